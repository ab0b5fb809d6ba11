"""A card as a widget of its own, for programs that show an agent's commands."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from nacre.contracts.contract import Reply
from nacre.feed.card import Card, Tail
from nacre.output.escapes import strip
from nacre.tool_events import Update
from nacre.tui.card_styles import CARD_CLASSES, card_css, card_palette
from nacre.tui.card_view import CardView, Palette
from nacre.tui.output_screen import OutputScreen
from nacre.tui.reply_card import end_with
from nacre.tui.whole_output import Kept, nothing_kept

# A taller card is shown on a screen of its own: the layout of a scrolling container costs by its height.
MOST_ROWS = 2_000
CLOCK_SECONDS = 1.0


class CommandCard(Widget, can_focus=True):
    """One command: `o` unfolds the whole output, `c` folds the command.

    Most of its methods are the handlers that Textual calls by name.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = CARD_CLASSES
    DEFAULT_CSS = (
        card_css("CommandCard")
        + """
    CommandCard { height: auto; width: 1fr; }
    CommandCard:focus { background: $panel; }
    """
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o,enter", "fold", "Output"),
        Binding("c", "fold_command", "Command"),
    ]

    def __init__(
        self,
        card: Card,
        open_whole: Callable[[], Kept | None] = nothing_kept,
        *,
        prompt: str = "$",
        id: str | None = None,
    ) -> None:
        """Show a card.

        Args:
            open_whole: opens all of the output where it is kept, e.g. `lambda: store.open(12)`.
        """
        super().__init__(id=id)
        self.view = CardView(card, open_whole, prompt)
        self._palette: Palette = {}
        self._height = 0

    @property
    def card(self) -> Card:
        return self.view.card

    def on_mount(self) -> None:
        self.set_interval(CLOCK_SECONDS, self._tick)

    def on_unmount(self) -> None:
        self.view.close()

    def _tick(self) -> None:
        if self.card.running:
            self.show()

    def show(self, card: Card | None = None) -> None:
        """Show a card again after a change, or another one in its place."""
        if card is not None:
            self.view.card = card
        self.view.change()
        self.refresh(layout=True)

    async def follow(self, updates: AsyncIterator[Update | Reply]) -> Reply:
        """Show a call as it runs (`tool.stream(…)`); returns its reply."""
        card = self.card
        async for update in updates:
            if isinstance(update, Update) or not card.tail.text:
                card.tail = Tail()
                card.tail.add(strip(update.text))
            if isinstance(update, Reply):
                end_with(card, update)
                self.show()
                return update
            self.show()
        raise ValueError("the updates ended without a reply")

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._palette = {}
        self.view.change()

    def _styles(self) -> Palette:
        if not self._palette:
            self._palette = card_palette(self)
        return self._palette

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        self._height = self.view.lay_out(max(20, width), self._styles())
        return self._height

    def on_resize(self, event: events.Resize) -> None:
        self.view.lay_out(max(20, event.size.width), self._styles())

    def render_line(self, y: int) -> Strip:
        base = self.rich_style
        return self.view.strip(y, self._styles()).adjust_cell_length(self.size.width, base).apply_style(base)

    def action_fold(self) -> None:
        """Unfold the whole output, or fold it; a large one is shown on a screen of its own."""
        self.view.fold()
        rows = self.view.lay_out(max(20, self.size.width), self._styles())
        while self.view.advance() and rows <= MOST_ROWS:
            rows = self.view.height
        if self.view.height > MOST_ROWS:
            self.view.fold()
            kept = self.view.open_whole()
            if kept is not None:
                self.app.push_screen(OutputScreen(self.card.command, kept))
        self.refresh(layout=True)

    def action_fold_command(self) -> None:
        self.view.fold_command()
        self.refresh(layout=True)
