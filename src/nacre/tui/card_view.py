"""One card as rows on the screen: the whole command, the output folded or whole, notices and facts.

A view holds what a person did to a card (what is folded), and the rows of one width. It is no widget: `CommandCard`
shows one, `TranscriptView` thousands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from nacre.feed.card import Card
from nacre.feed.card_rows import INDENT, Row, closing_rows, command_rows, facts_of, line_row, output_rows
from nacre.feed.folding import Density, Fold, folded, unfolded
from nacre.tui.whole_output import Kept, WholeOutput, nothing_kept

# Time to index a large output in one frame.
INDEX_SECONDS = 0.01

Palette = Mapping[str, Style]


@dataclass(slots=True)
class CardView:
    """The rows of one card.

    It has a method for each kind of row.
    """

    card: Card
    open_whole: Callable[[], Kept | None] = nothing_kept
    """Opens all of the output, where it is kept."""
    prompt: str = "$"
    """`$` for an agent's command, `!` and `!!` for a person's."""
    density: Density = "folded"
    unfolded: bool | None = None
    """Whether the person wants the output whole or folded; None leaves it to the density."""
    command_folded: bool = False
    search: str = ""
    here: str | None = None
    """The directory that the command line need not name."""
    _width: int = 0
    _head: list[Strip] = field(default_factory=list)
    _body: list[Strip] = field(default_factory=list)
    _foot: list[Strip] = field(default_factory=list)
    _whole: WholeOutput | None = None

    # What a person does.

    @property
    def shows_all(self) -> bool:
        return self.density == "all" if self.unfolded is None else self.unfolded

    def change(self) -> None:
        """Make the rows again: the card, the colours or the searched text have changed."""
        self._width = 0

    def fold(self) -> None:
        """Fold a whole output, unfold a folded one."""
        self.unfolded = not self.shows_all
        self._width = 0

    def fold_command(self) -> None:
        self.command_folded = not self.command_folded
        self._width = 0

    def close(self) -> None:
        """Give back what an unfolded output holds open."""
        self._width = 0
        if self._whole is not None:
            self._whole.close()
            self._whole = None

    # Rows.

    def lay_out(self, width: int, palette: Palette) -> int:
        """Make the rows for a width; returns how many there are."""
        if width != self._width:
            self.close()
            self._width = width
            self._head = _strips(self._command(width), palette)
            self._body = []
            if self.shows_all and not self.card.running:
                kept = self.open_whole()
                if kept is not None:
                    self._whole = WholeOutput(kept, width - INDENT - 1)
            if self._whole is None:
                self._body = _strips(self._output(width), palette)
            self._foot = [*_strips(closing_rows(self.card, width), palette), Strip([Segment(" ", palette["text"])])]
        self.advance()
        return self.height

    def advance(self) -> bool:
        """Index more of a whole output; True while there is more to index."""
        if self._whole is None or self._whole.complete:
            return False
        self._whole.index(INDEX_SECONDS)
        return not self._whole.complete

    @property
    def height(self) -> int:
        body = len(self._body) if self._whole is None else self._whole.rows + 1
        return len(self._head) + body + len(self._foot)

    def strip(self, row: int, palette: Palette) -> Strip:
        """Return a row."""
        if row < len(self._head):
            return self._head[row]
        row -= len(self._head)
        if self._whole is None:
            if row < len(self._body):
                return self._body[row]
            row -= len(self._body)
        elif row <= self._whole.rows:
            return self._whole_row(row, palette)
        else:
            row -= self._whole.rows + 1
        return self._foot[row] if row < len(self._foot) else Strip.blank(self._width)

    def _whole_row(self, row: int, palette: Palette) -> Strip:
        assert self._whole is not None
        if row == 0:
            count = f"{self._whole.rows:,}{'' if self._whole.complete else ' and more'}"
            hint = line_row(self.card, f"… the whole output, rows: {count} (o folds it)", "dim")
            return _strip(hint, palette)
        return _strip(line_row(self.card, self._whole.row(row - 1), "text", self.search), palette)

    def rows_with(self, text: str) -> list[int]:
        """Return the rows that hold a text, whatever its case."""
        wanted = text.lower()
        found = [row for row, strip in enumerate(self._head) if wanted in strip.text.lower()]
        start = len(self._head)
        if self._whole is not None:
            self._whole.index(1.0)
            at = self._whole.find(text, 0)
            while at is not None:
                found.append(start + 1 + at)
                at = self._whole.find(text, at + 1)
            start += self._whole.rows + 1
        else:
            found += [start + row for row, strip in enumerate(self._body) if wanted in strip.text.lower()]
            start += len(self._body)
        return found + [start + row for row, strip in enumerate(self._foot) if wanted in strip.text.lower()]

    def _command(self, width: int) -> list[Row]:
        rows = command_rows(self.card, width, prompt=self.prompt, here=self.here)
        if self.command_folded and len(rows) > 2:
            hint = f"… {len(rows) - 1} more rows of the command (c unfolds it)"
            return [rows[0], line_row(self.card, hint, "dim")]
        return rows

    def _output(self, width: int) -> list[Row]:
        if self.density == "count" and self.unfolded is not True:
            return []
        fold: Fold = (unfolded if self.shows_all else folded)(self.card, width - INDENT - 1)
        return output_rows(self.card, width, fold, "o shows them" if fold.hidden_lines else "o", self.search)

    def facts(self) -> list[str]:
        """Return how it stands, its wall time, its limit, where its output is, and who runs it."""
        return facts_of(self.card)


def _strips(rows: list[Row], palette: Palette) -> list[Strip]:
    return [_strip(row, palette) for row in rows]


def _strip(row: Row, palette: Palette) -> Strip:
    return Strip([Segment(text, palette[look]) for text, look in row])
