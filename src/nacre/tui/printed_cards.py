"""Prints cards on a terminal that is not taken over: print mode. Needs Rich, and not Textual."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console
from rich.text import Text

from nacre.feed.card_rows import Look, Row

# Colours of the terminal's own palette, so that they fit its background.
_STYLES: dict[Look, str] = {
    "text": "",
    "dim": "dim",
    "command": "bold",
    "notice": "yellow",
    "question": "bold yellow",
    "risk": "bold reverse red",
    "match": "reverse",
    "preview": "dim",
    "running": "blue",
    "waiting": "yellow",
    "asking": "yellow",
    "succeeded": "green",
    "failed": "red",
    "timedOut": "yellow",
    "cancelled": "magenta",
    "denied": "red",
    "error": "red",
}


def print_rows(rows: list[Row], out: TextIO) -> None:
    """Print rows that fit the terminal; without colour where NO_COLOR is set, or the terminal has none."""
    console = Console(file=out, highlight=False, markup=False, emoji=False)
    for row in rows:
        line = Text.assemble(*((text, _STYLES[look]) for text, look in row))
        console.print(line, soft_wrap=True)
