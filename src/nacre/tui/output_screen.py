"""All of one output on the whole screen, with search."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.screen import ModalScreen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input, Static

from nacre.tui.whole_output import Kept, WholeOutput

FRAMES = 20
INDEX_SECONDS = 0.02


class OutputView(ScrollView, can_focus=True):
    """The rows of one output, made as they come into view."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"output--match"}
    DEFAULT_CSS = """
    OutputView {
        background: $background; color: $foreground 88%; scrollbar-size-vertical: 1; overflow-x: hidden;
        overflow-y: scroll;
    }
    OutputView > .output--match { color: $background; background: $warning; }
    """

    def __init__(self, kept: Kept) -> None:
        super().__init__()
        self._kept = kept
        self._whole: WholeOutput | None = None
        self._width = 0
        self.text = ""

    def on_mount(self) -> None:
        self.set_interval(1 / FRAMES, self._index)

    def on_unmount(self) -> None:
        self._kept.close()

    def on_resize(self, event: events.Resize) -> None:
        width = self.scrollable_content_region.width
        if width != self._width:
            self._width, self._whole = width, WholeOutput(self._kept, width)
            self._index()

    def _index(self) -> None:
        if self._whole is not None and not self._whole.complete:
            self._whole.index(INDEX_SECONDS)
            self.virtual_size = Size(self._width, self._whole.rows)
            self.refresh()

    @property
    def rows(self) -> int:
        return 0 if self._whole is None else self._whole.rows

    def render_line(self, y: int) -> Strip:
        base = self.rich_style
        if self._whole is None:
            return Strip.blank(self._width, base)
        row = self._whole.row(y + round(self.scroll_y))
        at = row.lower().find(self.text.lower()) if self.text else -1
        if at < 0:
            segments = [Segment(row, base)]
        else:
            end = at + len(self.text)
            match = self.get_component_rich_style("output--match")
            segments = [Segment(row[:at], base), Segment(row[at:end], match), Segment(row[end:], base)]
        return Strip(segments).adjust_cell_length(self._width, base)

    def find(self, text: str, *, backwards: bool = False) -> bool:
        """Go to the next row that holds a text, after the last one from the beginning; False if there is none."""
        if self._whole is None or not text:
            return False
        fresh = text != self.text
        self.text = text
        here = round(self.scroll_y) + (0 if fresh else self.size.height // 2 + (-1 if backwards else 1))
        row = self._whole.find(text, here, backwards=backwards)
        if row is None:
            row = self._whole.find(text, self.rows - 1 if backwards else 0, backwards=backwards)
        if row is not None:
            self.scroll_to_region(Region(0, row, 1, 1), animate=False, force=True, center=True)
        self.refresh()
        return row is not None


class OutputScreen(ModalScreen[None]):
    """A whole output with a title."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape,q", "dismiss", "Close"),
        ("slash", "search", "Search"),
        ("n", "again", "Next"),
        ("N", "again(True)", "Earlier"),
        ("g", "edge(-1)", "Start"),
        ("G", "edge(1)", "End"),
    ]
    DEFAULT_CSS = """
    OutputScreen { background: $background; }
    OutputScreen .output--title { height: 1; padding: 0 1; background: $panel; text-style: bold; }
    OutputScreen .output--keys { height: 1; padding: 0 1; color: $foreground 60%; background: $surface; }
    OutputScreen Input { display: none; border: none; height: 1; padding: 0 1; }
    OutputScreen Input.-open { display: block; }
    """

    def __init__(self, title: str, kept: Kept) -> None:
        super().__init__()
        self._title = title
        self._kept = kept

    def compose(self) -> ComposeResult:
        yield Static(self._title, classes="output--title", markup=False)
        yield OutputView(self._kept)
        yield Input(placeholder="search")
        yield Static("/ search · n N next, earlier · g G start, end · Esc closes", classes="output--keys")

    def on_mount(self) -> None:
        self.query_one(OutputView).focus()

    def action_search(self) -> None:
        entry = self.query_one(Input)
        entry.add_class("-open")
        entry.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        event.input.remove_class("-open")
        view = self.query_one(OutputView)
        view.focus()
        if event.value and not view.find(event.value):
            self.notify(f"{event.value!r} is not in the output")

    def action_again(self, backwards: bool = False) -> None:
        view = self.query_one(OutputView)
        view.find(view.text, backwards=backwards)

    def action_edge(self, edge: int) -> None:
        view = self.query_one(OutputView)
        if edge < 0:
            view.scroll_home(animate=False)
        else:
            view.scroll_end(animate=False)
