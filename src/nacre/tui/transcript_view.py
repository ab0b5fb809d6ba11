"""The transcript: cards below each other, of which only the visible rows are made.

Changes are drawn at most FRAMES times a second, whatever the rate of the output. Of a long history the newest cards are
held; the log has the rest. The module is beyond 350 lines, because one widget has the layout and the keys of the list.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from nacre.feed.card import Card
from nacre.feed.folding import Density
from nacre.tui.card_styles import CARD_CLASSES, card_css, card_palette
from nacre.tui.card_view import CardView, Palette
from nacre.tui.whole_output import Kept, nothing_kept

FRAMES = 20
MOST_CARDS = 1000
# How often the wall time of running cards is drawn again.
CLOCK_SECONDS = 1.0


class TranscriptView(ScrollView, can_focus=True):
    """Cards, the newest at the bottom; it follows them while the end is in view.

    Most of its methods are the handlers that Textual calls by name.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = CARD_CLASSES | {"transcript--selected"}
    DEFAULT_CSS = (
        card_css("TranscriptView")
        + """
    TranscriptView {
        background: $background; overflow-x: hidden; overflow-y: scroll; scrollbar-size-vertical: 1;
        scrollbar-color: $panel;
        scrollbar-background: $background; scrollbar-background-hover: $background; scrollbar-color-hover: $primary;
        scrollbar-background-active: $background; scrollbar-color-active: $primary;
    }
    TranscriptView > .transcript--selected { background: $surface; }
    """
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "select(-1)", "Earlier call", show=False),
        Binding("down,j", "select(1)", "Later call", show=False),
        Binding("home,g", "first", "First call", show=False),
        Binding("end,G", "last", "Newest call", show=False),
        Binding("o,enter", "fold", "Output"),
        Binding("c", "fold_command", "Command"),
        Binding("n", "next_match(1)", "Next match", show=False),
        Binding("N", "next_match(-1)", "Earlier match", show=False),
    ]

    class Selected(Message):
        """Another card is selected."""

        def __init__(self, card: str | None) -> None:
            super().__init__()
            self.card = card

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._views: dict[str, CardView] = {}
        self._order: list[str] = []
        self._starts: list[int] = []
        self._rows = 0
        self._dirty: set[str] = set()
        self._changed = False
        self.selected: str | None = None
        self.follows = True
        """Whether the newest row stays in view."""
        self.forgotten = 0
        """Cards that are no longer held."""
        self._palette: Palette = {}
        self._laid_out_width = 0
        self.search_text = ""
        self.density: Density = "folded"
        self.here: str | None = None
        """The directory that cards need not name."""

    def on_mount(self) -> None:
        self.set_interval(1 / FRAMES, self.draw_changes)
        self.set_interval(CLOCK_SECONDS, self._tick)

    def _tick(self) -> None:
        """Draw the wall time of running cards again."""
        for call, view in self._views.items():
            if view.card.running:
                view.change()
                self._dirty.add(call)

    def on_unmount(self) -> None:
        for view in self._views.values():
            view.close()

    # Content.

    def show_card(self, card: Card, open_whole: Callable[[], Kept | None] = nothing_kept, *, prompt: str = "$") -> None:
        """Add a card, or show what has changed of one; drawn with the next frame."""
        view = self._views.get(card.call)
        if view is None:
            view = CardView(card, open_whole, prompt, self.density, search=self.search_text, here=self.here)
            follows = self.selected is None or (self.follows and self.selected == self._order[-1])
            self._views[card.call] = view
            self._order.append(card.call)
            self._changed = True
            if follows:
                self._select(card.call)
        else:
            view.card, view.open_whole = card, open_whole
            view.change()
        self._dirty.add(card.call)

    def remove_card(self, card: str) -> None:
        """Remove a card."""
        view = self._views.pop(card, None)
        if view is not None:
            view.close()
            self._order.remove(card)
            self._changed = True
            if self.selected == card:
                self._select(self._order[-1] if self._order else None)

    def clear(self) -> None:
        for card in list(self._order):
            self.remove_card(card)

    @property
    def cards(self) -> list[Card]:
        """The cards, oldest first."""
        return [self._views[call].card for call in self._order]

    def view_of(self, card: str) -> CardView | None:
        return self._views.get(card)

    # Drawing.

    @property
    def _width(self) -> int:
        return max(20, self.scrollable_content_region.width)

    def draw_changes(self) -> None:
        """Draw what has changed since the last frame."""
        # Behind another screen nothing is drawn; the changes are, when it comes back.
        if not self.is_mounted or not self.size.width or not self.screen.is_current:
            return
        unfinished = [one for one in self._dirty if (view := self._views.get(one)) is not None and view.advance()]
        if not self._dirty and not self._changed:
            return
        self._dirty = set(unfinished)
        self._forget_old()
        self._lay_out()

    def _forget_old(self) -> None:
        for card in self._order[: max(0, len(self._order) - MOST_CARDS)]:
            if card == self.selected:
                break
            self.remove_card(card)
            self.forgotten += 1

    def _lay_out(self, anchor: str | None = None) -> None:
        """Place all cards; the anchor, or the first visible card, stays where it is on the screen."""
        self._changed = False
        top = round(self.scroll_y)
        if anchor is None and not self.follows:
            anchor = self._card_at(top)
        before = self._start_of(anchor)
        width, palette = self._width, self._styles()
        self._laid_out_width = width
        self._starts, self._rows = [], 0
        for card in self._order:
            self._starts.append(self._rows)
            self._rows += self._views[card].lay_out(width, palette)
        self.virtual_size = Size(width, self._rows)
        after = self._start_of(anchor)
        if self.follows and (anchor is None or before is None):
            self.scroll_end(animate=False, immediate=True, force=True)
        elif before is not None and after is not None and after != before:
            self.scroll_to(y=top + after - before, animate=False, immediate=True, force=True)
        self.refresh()

    def _start_of(self, card: str | None) -> int | None:
        if card is None or card not in self._views or len(self._starts) != len(self._order):
            return None
        return self._starts[self._order.index(card)]

    def _card_at(self, row: int) -> str | None:
        if not self._starts or row >= self._rows or len(self._starts) != len(self._order):
            return None
        return self._order[bisect.bisect_right(self._starts, max(0, row)) - 1]

    def _styles(self) -> Palette:
        if not self._palette:
            self._palette = card_palette(self)
        return self._palette

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._palette = {}
        for view in self._views.values():
            view.change()
        self._changed = True

    def on_resize(self, event: events.Resize) -> None:
        if self._width != self._laid_out_width:
            self._lay_out(None if self.follows else self._card_at(round(self.scroll_y)))
        elif self.follows:
            # A question or the jobs took rows from below.
            self.scroll_end(animate=False, immediate=True, force=True)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self.is_mounted:
            self.follows = round(new_value) >= self.max_scroll_y

    def render_line(self, y: int) -> Strip:
        row = y + round(self.scroll_y)
        width = self.scrollable_content_region.width
        base = self.rich_style
        card = self._card_at(row)
        if card is None:
            return Strip.blank(width, base)
        start = self._start_of(card)
        view = self._views[card]
        assert start is not None
        strip = view.strip(row - start, self._styles())
        if card == self.selected and self.has_focus and row - start < view.height - 1:
            base = base + self._background("transcript--selected")
        return strip.adjust_cell_length(width, base).apply_style(base)

    def _background(self, name: str) -> Style:
        return Style(bgcolor=self.get_component_rich_style(name).bgcolor)

    # What a person does.

    def _select(self, card: str | None) -> None:
        if card != self.selected:
            self.selected = card
            self.post_message(self.Selected(card))
            self.refresh()

    def action_select(self, step: int) -> None:
        """Select the next or previous card and bring it into view; within a tall card scroll first."""
        if not self._order:
            return
        at = self._order.index(self.selected) if self.selected in self._views else len(self._order) - 1
        start, height = self._starts[at] if at < len(self._starts) else 0, self._views[self._order[at]].height
        top, page = round(self.scroll_y), self.size.height
        if step > 0 and start + height > top + page:
            self.scroll_to(y=top + max(1, page // 2), animate=False)
            return
        if step < 0 and start < top:
            self.scroll_to(y=max(start, top - max(1, page // 2)), animate=False)
            return
        self._select(self._order[max(0, min(len(self._order) - 1, at + step))])
        self._reveal()

    def action_first(self) -> None:
        if self._order:
            self._select(self._order[0])
            self.scroll_home(animate=False)

    def action_last(self) -> None:
        if self._order:
            self._select(self._order[-1])
            self.scroll_end(animate=False)

    def _reveal(self) -> None:
        start = self._start_of(self.selected)
        if start is not None and self.selected is not None:
            height = min(self._views[self.selected].height, self.size.height)
            self.scroll_to_region(Region(0, start, 1, height), animate=False, force=True)

    def action_fold(self) -> None:
        """Fold or unfold the output of the selected card."""
        self._refold(CardView.fold)

    def action_fold_command(self) -> None:
        self._refold(CardView.fold_command)

    def _refold(self, change: Callable[[CardView], None]) -> None:
        view = None if self.selected is None else self._views.get(self.selected)
        if view is None or self.selected is None:
            return
        change(view)
        self.follows = False
        self._dirty.add(self.selected)
        self._lay_out(self.selected)
        # A fold may end above the view; its first row is brought back.
        start = self._start_of(self.selected)
        if start is not None and start + view.height <= round(self.scroll_y):
            self._reveal()

    def on_click(self, event: events.Click) -> None:
        card = self._card_at(int(event.y) + round(self.scroll_y))
        if card is not None:
            self._select(card)
            if event.chain == 2:
                self.action_fold()

    def set_density(self, density: Density) -> None:
        """Show commands only, their output folded, or everything; what a person folded stays so."""
        self.density = density
        for view in self._views.values():
            view.density = density
            view.change()
        self._lay_out(None if self.follows else self._card_at(round(self.scroll_y)))

    # Search.

    def find(self, text: str) -> int:
        """Mark a text in all cards and go to its last place; returns how many rows hold it."""
        self.search_text = text
        for view in self._views.values():
            view.search = text
            view.change()
        self._lay_out(self.selected)
        matches = self._matches()
        if matches:
            self._go_to(matches[-1])
        return len(matches)

    def _matches(self) -> list[int]:
        if not self.search_text:
            return []
        return [
            start + row
            for start, card in zip(self._starts, self._order, strict=True)
            for row in self._views[card].rows_with(self.search_text)
        ]

    def _go_to(self, row: int) -> None:
        self._select(self._card_at(row))
        self.follows = False
        self.scroll_to_region(Region(0, row, 1, 1), animate=False, force=True, center=True)

    def action_next_match(self, step: int) -> None:
        """Go to the next place of the searched text, from the middle of the view on."""
        matches = self._matches()
        if not matches:
            return
        here = round(self.scroll_y) + self.size.height // 2
        later = [row for row in matches if (row > here if step > 0 else row < here)]
        if later:
            self._go_to(later[0] if step > 0 else later[-1])
        else:
            self._go_to(matches[0] if step > 0 else matches[-1])
