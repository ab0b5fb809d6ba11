"""One card as rows on the screen: the whole command, the output folded or whole, notices and facts.

A view holds what a person did to a card (what is folded), and the rows of one width. It is no widget: `CommandCard`
shows one, `TranscriptView` thousands.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from nacre.feed.card import Card
from nacre.feed.card_texts import command_text, origin_text, state_text, wall_seconds
from nacre.feed.folding import Density, Fold, folded, unfolded, wrapped
from nacre.jobs.status import spell_seconds
from nacre.output.escapes import strip
from nacre.tui.whole_output import Kept, WholeOutput, nothing_kept, rows_of

# What a card without colour still tells apart: one sign for each status.
SIGNS = {
    "preview": "◌",
    "running": "●",
    "waiting": "▸",
    "asking": "?",
    "succeeded": "✓",
    "failed": "✗",
    "timedOut": "◔",
    "cancelled": "■",
    "denied": "⊘",
    "error": "!",
}
BAR = "▎"
INDENT = 2
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
            self._head = self._command_rows(width, palette)
            self._body = []
            if self.shows_all and not self.card.running:
                kept = self.open_whole()
                if kept is not None:
                    self._whole = WholeOutput(kept, width - INDENT - 1)
            if self._whole is None:
                self._body = self._output_rows(width, palette)
            self._foot = self._closing_rows(width, palette)
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
            return self._line(f"… the whole output, rows: {count} (o folds it)", palette["dim"], palette)
        return self._line(self._whole.row(row - 1), palette["text"], palette)

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

    # The command.

    def _command_rows(self, width: int, palette: Palette) -> list[Strip]:
        card = self.card
        state = palette[card.status]
        text = command_text(card, self.here)
        before, risk = self._marks(text)
        strips: list[Strip] = []
        start = 0
        lead = f"{SIGNS[card.status]} {self.prompt} "
        for line in text.split("\n"):
            for row in wrapped(line, width - len(lead) - 1):
                head = lead if not strips else " " * len(lead)
                segments = [Segment(BAR, state), Segment(head, state)]
                strips.append(Strip(segments + _styled(row, start, before, risk, palette)))
                start += len(row)
            start += 1
        if self.command_folded and len(strips) > 2:
            hint = f"… {len(strips) - 1} more rows of the command (c unfolds it)"
            return [strips[0], self._line(hint, palette["dim"], palette)]
        return strips

    def _marks(self, text: str) -> tuple[int, tuple[int, int] | None]:
        """Return where the command itself begins in its text, and where the part is that a rule objects to."""

        def length(characters: int) -> int:
            return len(command_text(replace(self.card, command=self.card.command[:characters]), self.here))

        question = self.card.question
        span = None if question is None or question.span is None else question.span
        return length(0), None if span is None else (length(span[0]), length(span[1]))

    # The output.

    def _output_rows(self, width: int, palette: Palette) -> list[Strip]:
        if self.density == "count" and self.unfolded is not True:
            return []
        room = width - INDENT - 1
        fold: Fold = (unfolded if self.shows_all else folded)(self.card, room)
        hint = fold.hint("o shows them" if fold.hidden_lines else "o")
        strips = [] if hint is None else [self._line(hint, palette["dim"], palette)]
        for line in fold.lines:
            strips += [self._line(row, palette["text"], palette) for row in rows_of(line, room)]
        return strips

    # What stands below.

    def _closing_rows(self, width: int, palette: Palette) -> list[Strip]:
        card = self.card
        room = width - INDENT - 3
        strips = []
        for notice in [*card.notices, *([card.error] if card.error else [])]:
            for number, row in enumerate(_by_words(notice, room)):
                strips.append(self._line(("! " if number == 0 else "  ") + row, palette["notice"], palette))
        for question, keys in self._questions():
            strips += [self._line(f" {row} ", palette["question"], palette) for row in _by_words(question, room)]
            strips.append(self._line(keys, palette["notice"], palette))
        if card.pty and card.running and card.job_id is not None:
            strips.append(self._line("it runs on a terminal (t opens its console)", palette["dim"], palette))
        strips += self._facts(room + 2, palette)
        strips.append(Strip([Segment(" ", palette["text"])]))
        return strips

    def _questions(self) -> list[tuple[str, str]]:
        card = self.card
        found = []
        if card.question is not None:
            found.append((card.question.message, "F4 answers: once, this session, always, deny"))
        if card.prompt is not None:
            hidden = " (hidden: recorded nowhere)" if card.hides_input else ""
            found.append((f"{card.prompt.strip()}{hidden}", "F4 answers"))
        return found

    def facts(self) -> list[str]:
        """Return how it stands, its wall time, its limit, where its output is, and who runs it."""
        card = self.card
        facts = [state_text(card)]
        if not card.is_preview:
            facts.append(spell_seconds(wall_seconds(card)))
        if card.timeout:
            asked = f" ({card.requested_timeout:g} s asked for)" if card.requested_timeout else ""
            facts.append(f"timeout {card.timeout:g} s{asked}")
        facts += [f"artifact {one}" for one in card.artifacts]
        facts += [one for one in (card.job_id, origin_text(card)) if one]
        return facts

    def _facts(self, room: int, palette: Palette) -> list[Strip]:
        rows = _joined(self.facts(), room)
        state = palette[self.card.status]
        first, mark, rest = rows[0].partition(" · ")
        segments = [
            Segment(BAR, state),
            Segment(" " * INDENT),
            Segment(first, state),
            Segment(mark + rest, palette["dim"]),
        ]
        return [Strip(segments), *(self._line(row, palette["dim"], palette) for row in rows[1:])]

    def _line(self, text: str, style: Style, palette: Palette) -> Strip:
        segments = [Segment(BAR, palette[self.card.status]), Segment(" " * INDENT)]
        at = text.lower().find(self.search.lower()) if self.search else -1
        if at >= 0:
            end = at + len(self.search)
            segments += [Segment(text[:at], style), Segment(text[at:end], palette["match"]), Segment(text[end:], style)]
        else:
            segments.append(Segment(text, style))
        return Strip(segments)


def _joined(facts: list[str], width: int) -> list[str]:
    """Return facts with dots between them, as rows that are broken between two facts where they can be."""
    rows = [""]
    for fact in facts:
        longer = f"{rows[-1]} · {fact}" if rows[-1] else fact
        if len(longer) <= width:
            rows[-1] = longer
        else:
            first, *more = rows_of(fact, width)
            rows += [first, *more] if rows[-1] else []
            if not rows[0]:
                rows = [first, *more]
    return rows


def _by_words(text: str, width: int) -> list[str]:
    """Return a sentence as rows that are broken between words; its own lines stay."""
    rows = [row for line in strip(text).splitlines() for row in textwrap.wrap(line, max(10, width)) or [""]]
    return rows or [""]


def _styled(row: str, start: int, before: int, risk: tuple[int, int] | None, palette: Palette) -> list[Segment]:
    """Return a row of a command in its styles: what stands before it, itself, and what a rule objects to."""
    marks = (before, *(risk or ()))
    edges = sorted({0, len(row), *(mark - start for mark in marks if 0 < mark - start < len(row))})
    segments = []
    for begin, end in pairwise(edges):
        at = start + begin
        risky = risk is not None and risk[0] <= at < risk[1]
        style = palette["risk"] if risky else palette["dim"] if at < before else palette["command"]
        segments.append(Segment(row[begin:end], style))
    return segments
