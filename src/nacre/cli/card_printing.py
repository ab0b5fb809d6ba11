"""Cards in print mode: on a terminal with Rich, where that is installed, else as plain rows."""

from __future__ import annotations

import importlib.util
import os
from typing import TYPE_CHECKING, Any, TextIO

from nacre import config
from nacre.feed.card import Card, take
from nacre.feed.card_rows import INDENT, SIGNS, Row, closing_rows, command_rows, facts_of, output_rows
from nacre.feed.folding import folded, unfolded

if TYPE_CHECKING:
    from nacre.result import ShellResult

DEFAULT_COLUMNS = 80


def columns_of(out: TextIO) -> int:
    try:
        return os.get_terminal_size(out.fileno()).columns or DEFAULT_COLUMNS
    except OSError:
        return DEFAULT_COLUMNS


def print_card(card: Card, out: TextIO, *, hint: str = "", whole: bool = False) -> None:
    """Print a card.

    Args:
        hint: how what is folded away is read.
        whole: whether nothing is folded.
    """
    width = columns_of(out)
    fold = (unfolded if whole else folded)(card, width - INDENT - 1)
    _print_parts(card, output_rows(card, width, fold, hint), width, out)


def print_head(card: Card, out: TextIO) -> None:
    """Print a card without its output, which follows."""
    _print_parts(card, [], columns_of(out), out)


def _print_parts(card: Card, body: list[Row], width: int, out: TextIO) -> None:
    head = command_rows(card, width, here=config.working_directory())
    _print([*head, *body, *closing_rows(card, width, keys=False)], out)


def print_end(card: Card, out: TextIO) -> None:
    """Print how a command ended whose output stands above, in one row."""
    state, *facts = facts_of(card)
    row: Row = [(f"{SIGNS[card.status]} {state}", card.status), ("".join(f" · {one}" for one in facts), "dim")]
    _print([row], out)


def _print(rows: list[Row], out: TextIO) -> None:
    if not os.environ.get("NO_COLOR") and importlib.util.find_spec("rich") is not None:
        from nacre.tui.printed_cards import print_rows

        print_rows(rows, out)
    else:
        for row in rows:
            print("".join(text for text, _ in row), file=out)


def card_of_entry(entry: dict[str, Any]) -> Card:
    """Return the card of a call in the log."""
    card = Card(call=str(entry.get("call", "")), command=str(entry.get("command", "")))
    take(card, {**entry, "event": "start", "startedAt": entry.get("time")})
    if entry.get("outcome") not in (None, "background"):
        take(card, {**entry, "event": "end"})
    return card


def card_of_result(command: str, result: ShellResult) -> Card:
    """Return the card of a result."""
    from nacre.engine.call_log import entry_of

    return card_of_entry({**entry_of(result), "command": command, "notices": ()})
