"""A card as rows of text with named looks: the whole command, the output, notices and facts. Pure.

Every viewer that draws cards draws these: the console with the colours of its theme, print mode with those of the
terminal.
"""

from __future__ import annotations

import textwrap
from dataclasses import replace
from itertools import pairwise
from typing import Literal

from nacre.feed.card import Card, Status
from nacre.feed.card_texts import command_text, origin_text, state_text, wall_seconds
from nacre.feed.folding import Fold, rows_of, wrapped
from nacre.jobs.status import spell_seconds
from nacre.output.escapes import strip

Look = Status | Literal["text", "dim", "command", "notice", "question", "risk", "match"]
"""What a piece of a row is; a status is the colour of the card's own marks."""
Row = list[tuple[str, Look]]

# What a card without colour still tells apart: one sign for each status.
SIGNS: dict[Status, str] = {
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


def line_row(card: Card, text: str, look: Look, search: str = "") -> Row:
    """Return one row below the command; the searched text in it is marked."""
    row: Row = [(BAR, card.status), (" " * INDENT, "text")]
    at = text.lower().find(search.lower()) if search else -1
    if at < 0:
        return [*row, (text, look)]
    end = at + len(search)
    return [*row, (text[:at], look), (text[at:end], "match"), (text[end:], look)]


# The command.


def command_rows(card: Card, width: int, *, prompt: str = "$", here: str | None = None) -> list[Row]:
    """Return the whole command; what a rule objects to is marked."""
    text = command_text(card, here)
    before, risk = _marks(card, text, here)
    rows: list[Row] = []
    start = 0
    lead = f"{SIGNS[card.status]} {prompt} "
    for line in text.split("\n"):
        for piece in wrapped(line, width - len(lead) - 1):
            head = lead if not rows else " " * len(lead)
            rows.append([(BAR, card.status), (head, card.status), *_styled(piece, start, before, risk)])
            start += len(piece)
        start += 1
    return rows


def _marks(card: Card, text: str, here: str | None) -> tuple[int, tuple[int, int] | None]:
    """Return where the command itself begins in its text, and where the part is that a rule objects to."""

    def length(characters: int) -> int:
        return len(command_text(replace(card, command=card.command[:characters]), here))

    question = card.question
    span = None if question is None or question.span is None else question.span
    return length(0), None if span is None else (length(span[0]), length(span[1]))


def _styled(piece: str, start: int, before: int, risk: tuple[int, int] | None) -> Row:
    """Return a piece of a command in its looks: what stands before it, itself, and what a rule objects to."""
    marks = (before, *(risk or ()))
    edges = sorted({0, len(piece), *(mark - start for mark in marks if 0 < mark - start < len(piece))})
    row: Row = []
    for begin, end in pairwise(edges):
        at = start + begin
        risky = risk is not None and risk[0] <= at < risk[1]
        row.append((piece[begin:end], "risk" if risky else "dim" if at < before else "command"))
    return row


# The output.


def output_rows(card: Card, width: int, fold: Fold, hint: str, search: str = "") -> list[Row]:
    """Return what a fold shows, and a line that says what it hides and how that is seen."""
    hidden = fold.hint(hint)
    rows = [] if hidden is None else [line_row(card, hidden, "dim")]
    room = width - INDENT - 1
    return rows + [line_row(card, piece, "text", search) for line in fold.lines for piece in rows_of(line, room)]


# What stands below.


def closing_rows(card: Card, width: int, *, keys: bool = True) -> list[Row]:
    """Return notices, questions and facts.

    Args:
        keys: whether the keys of the console are named.
    """
    room = width - INDENT - 3
    rows = []
    for notice in [*card.notices, *([card.error] if card.error else [])]:
        for number, piece in enumerate(_by_words(notice, room)):
            rows.append(line_row(card, ("! " if number == 0 else "  ") + piece, "notice"))
    for question, answer in _questions(card):
        rows += [line_row(card, f" {piece} ", "question") for piece in _by_words(question, room)]
        rows += [line_row(card, answer, "notice")] if keys else []
    if keys and card.pty and card.running and card.job_id is not None:
        rows.append(line_row(card, "it runs on a terminal (t opens its console)", "dim"))
    return rows + _facts(card, room + 2)


def _questions(card: Card) -> list[tuple[str, str]]:
    found = []
    if card.question is not None:
        found.append((card.question.message, "F4 answers: once, this session, always, deny"))
    if card.prompt is not None:
        hidden = " (hidden: recorded nowhere)" if card.hides_input else ""
        found.append((f"{card.prompt.strip()}{hidden}", "F4 answers"))
    return found


def facts_of(card: Card) -> list[str]:
    """Return how it stands, its wall time, its limit, where its output is, and who runs it."""
    facts = [state_text(card)]
    if not card.is_preview:
        facts.append(spell_seconds(wall_seconds(card)))
    if card.timeout:
        asked = f" ({card.requested_timeout:g} s asked for)" if card.requested_timeout else ""
        facts.append(f"timeout {card.timeout:g} s{asked}")
    facts += [f"artifact {one}" for one in card.artifacts]
    facts += [one for one in (card.job_id, origin_text(card)) if one]
    return facts


def _facts(card: Card, room: int) -> list[Row]:
    rows = _joined(facts_of(card), room)
    first, mark, rest = rows[0].partition(" · ")
    head: Row = [(BAR, card.status), (" " * INDENT, "text"), (first, card.status), (mark + rest, "dim")]
    return [head, *(line_row(card, row, "dim") for row in rows[1:])]


def _joined(facts: list[str], width: int) -> list[str]:
    """Return facts with dots between them, as rows that are broken between two facts where they can be."""
    rows: list[str] = []
    for fact in facts:
        longer = f"{rows[-1]} · {fact}" if rows else fact
        if rows and len(longer) <= width:
            rows[-1] = longer
        else:
            rows += rows_of(fact, width)
    return rows


def _by_words(text: str, width: int) -> list[str]:
    """Return a sentence as rows that are broken between words; its own lines stay."""
    rows = [row for line in strip(text).splitlines() for row in textwrap.wrap(line, max(10, width)) or [""]]
    return rows or [""]
