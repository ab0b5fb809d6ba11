"""A call as the page gets it: the words and folds of the other viewers, as JSON. Pure."""

from __future__ import annotations

from typing import Any

from nacre.feed.card import Card, Tail
from nacre.feed.card_rows import SIGNS
from nacre.feed.card_texts import command_text, origin_text, state_text
from nacre.feed.folding import Fold, folded

# What is held of an ended call: more than the page folds to, and all of an output that has no artifact.
ENDED_CHARACTERS = 64 * 1024
# Commands are shown whole; a longer one is data, and its beginning tells what it is.
COMMAND_CHARACTERS = 64 * 1024
UNFOLD = "show all"
SCREEN_ONLY = Fold([], 0, 0)


def card_json(
    card: Card, *, columns: int, here: str | None = None, screen: bool = False, past: bool = False
) -> dict[str, Any]:
    """Return a card for a view of so many columns.

    Args:
        screen: whether its program shows a full screen, so that its output has no lines.
        past: whether it comes from the log, which has no output.
    """
    fold = SCREEN_ONLY if screen or past else folded(card, columns)
    # Of the past there is what was kept, of the present what was told as well.
    kept = bool(card.artifacts or card.job_id)
    told = bool(card.tail.text or card.tail.missing_bytes)
    command = command_text(card, here)
    shown: dict[str, Any] = {
        "call": card.call,
        "command": command[:COMMAND_CHARACTERS],
        "cut": max(0, len(command) - COMMAND_CHARACTERS),
        "origin": "from the log" if past else origin_text(card),
        "status": card.status,
        "sign": SIGNS[card.status],
        "state": state_text(card),
        "by": card.by,
        "started": card.started,
        "seconds": card.seconds,
        "ended": card.ended,
        "timeout": card.timeout,
        "job": card.job_id,
        "terminal": card.pty and card.job_id is not None and card.running,
        "artifacts": card.artifacts,
        "notices": card.notices,
        "error": card.error,
        "rule": card.rule,
        "lines": fold.lines,
        "hint": fold.hint(UNFOLD),
        "output": told and (kept or not past),
        "unkept": card.tail.missing_bytes if past and not kept else 0,
        "screen": screen,
    }
    if card.prompt is not None:
        shown["prompt"] = {"text": card.prompt.strip(), "hidden": card.hides_input}
    if (question := card.question) is not None:
        shown["question"] = {
            "id": question.id,
            "rule": question.rule,
            "message": question.message,
            "deadline": question.deadline,
            "parts": marked_parts(card.command, question.span),
        }
    return shown


def marked_parts(command: str, span: tuple[int, int] | None) -> list[str]:
    """Return a command as the text before its risky part, that part, and the text after it."""
    if span is None:
        return [command, "", ""]
    start, end = max(0, span[0]), max(0, span[0], span[1])
    return [command[:start], command[start:end], command[end:]]


def shortened_tail(tail: Tail) -> Tail:
    """Return what is held of the output of a call that has ended."""
    if len(tail.text) <= ENDED_CHARACTERS:
        return tail
    gone, kept = tail.text[:-ENDED_CHARACTERS], tail.text[-ENDED_CHARACTERS:]
    held = Tail()
    held.add(kept, tail.missing_bytes + len(gone.encode("utf-8", "replace")))
    held.missing_lines = tail.missing_lines + gone.count("\n")
    return held
