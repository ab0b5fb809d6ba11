"""What a card shows folded and unfolded, as lines of text. Pure.

A call of an agent is folded to its last 10 visual lines, a person's command to its last 20 logical lines of at most
4,000 characters. Nothing is folded to hide a single line, as the line that says so would take its place.
"""

from __future__ import annotations

import unicodedata
from typing import Literal, NamedTuple

from nacre.feed.card import TAB_COLUMNS, Card, Tail
from nacre.output.escapes import strip
from nacre.output.sizes import human_size
from nacre.wording import counted

VISUAL_LINES = 10
PERSON_LINES = 20
PERSON_CHARACTERS = 4_000
LEAST_COLUMNS = 10
CUT = "…"

Density = Literal["count", "folded", "all"]
DENSITIES: tuple[Density, ...] = ("count", "folded", "all")


class Fold(NamedTuple):
    """The lines that are shown of an output, and what is not."""

    lines: list[str]
    hidden_lines: int
    """Lines that unfolding shows; 0 if all are shown."""
    missing_bytes: int
    """Bytes before them that the viewer does not have; the whole output is in the artifact or the job's file."""

    def hint(self, key: str) -> str | None:
        """The line above the output that says what is folded away, and how to see it; None if nothing is."""
        if not self.hidden_lines and not self.missing_bytes:
            return None
        parts = [f"{counted(self.hidden_lines, 'earlier line')}"] if self.hidden_lines else []
        if self.missing_bytes:
            parts.append(f"{human_size(self.missing_bytes)} before")
        return f"{CUT} {', '.join(parts)} ({key})"


def folded(card: Card, width: int) -> Fold:
    """Fold the output of a card for a view of so many columns."""
    if card.by == "person":
        return _last(card.tail, [_clamped(line) for line in card.tail.lines[-PERSON_LINES - 1 :]], PERSON_LINES)
    # From the end, as long as lines are needed: a card may hold a quarter of a megabyte.
    shown: list[str] = []
    taken = 0
    for line in reversed(card.tail.lines):
        shown[:0] = wrapped(line, width)
        taken += 1
        if len(shown) > VISUAL_LINES + 1:
            break
    before = len(card.tail.lines) - taken
    if before == 0 and len(shown) <= VISUAL_LINES + 1:
        return Fold(shown, 0, card.tail.missing_bytes)
    hidden = len(shown) - VISUAL_LINES + before + card.tail.missing_lines
    return Fold(shown[-VISUAL_LINES:], hidden, card.tail.missing_bytes)


def unfolded(card: Card, width: int) -> Fold:
    """Return all lines that the card holds."""
    lines = [piece for line in card.tail.lines for piece in wrapped(line, width)]
    return Fold(lines, 0, card.tail.missing_bytes)


def _last(tail: Tail, lines: list[str], most: int) -> Fold:
    total = len(tail.lines)
    if total <= most + 1:
        return Fold(lines, 0, tail.missing_bytes)
    return Fold(lines[-most:], total - most + tail.missing_lines, tail.missing_bytes)


def _clamped(line: str) -> str:
    over = len(line) - PERSON_CHARACTERS
    return line if over <= 0 else f"{line[:PERSON_CHARACTERS]}{CUT} [{counted(over, 'more character')}]"


def wrapped(line: str, width: int) -> list[str]:
    """Return a line as rows of at most so many columns."""
    width = max(width, LEAST_COLUMNS)
    if line.isascii() and line.isprintable():
        return [line[at : at + width] for at in range(0, len(line), width)] or [""]
    rows, row, used = [], "", 0
    for character in line:
        columns = columns_of(character)
        if used + columns > width:
            rows.append(row)
            row, used = "", 0
        row += character
        used += columns
    return [*rows, row]


def rows_of(text: str, width: int) -> list[str]:
    """Return a text as rows of at most `width` columns, without terminal control."""
    lines = strip(text).expandtabs(TAB_COLUMNS).removesuffix("\n").split("\n")
    return [row for line in lines for row in wrapped(line, width)]


def columns_of(character: str) -> int:
    """Return how many columns a character takes: 2 for a wide one, 0 for a mark that joins the one before."""
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def cut_to(text: str, width: int) -> str:
    """Return a text on one row, cut with a mark where it is longer."""
    if text.isascii() and len(text) <= width:
        return text
    rows = wrapped(text, width)
    return text if len(rows) == 1 else f"{wrapped(text, max(width - 1, LEAST_COLUMNS))[0]}{CUT}"
