"""Lists for people: one line a row. Header, colour and the terminal's width on a terminal only."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, NamedTuple

# A longer command makes a row hard to read; `--json` has the whole.
COMMAND_CHARACTERS = 160
# What a narrow terminal still shows of a command.
LEAST_CHARACTERS = 20

# The sign of a card and a blank, on a terminal.
SIGN_COLUMNS = 2

BOLD, RED, GREEN = "1", "31", "32"
# As the cards of the console have them.
_STATUS_COLOURS = {
    "running": "34",
    "waiting": "33",
    "timedOut": "33",
    "succeeded": GREEN,
    "cancelled": "35",
    "failed": RED,
    "denied": RED,
    "error": RED,
}


class Paper(NamedTuple):
    """What the rows are written on."""

    columns: int | None
    """The width of the terminal; None for a pipe or a file."""
    coloured: bool

    def header(self, text: str) -> None:
        """Print the names of the columns, for a person."""
        if self.columns is not None:
            print(self.paint(text[: self.columns], BOLD))

    def paint(self, text: str, colour: str) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if self.coloured else text

    def sign(self, entry: dict[str, Any]) -> str:
        """Return the sign that the card of a logged call has, as the first column on a terminal; nothing elsewhere."""
        if self.columns is None:
            return ""
        # A pipe has no use for cards.
        from nacre.cli.card_printing import card_of_entry
        from nacre.feed.card_rows import SIGNS

        status = card_of_entry(entry).status
        return self.paint(f"{SIGNS[status]} ", _STATUS_COLOURS[status])

    def command(self, command: Any, *, before: int, after: int = 0) -> str:
        """Return a command as the last column of a row, shortened to the room between what stands around it.

        json.dumps escapes control and direction characters, so that a command cannot disguise itself.
        """
        text = json.dumps(command)
        room = COMMAND_CHARACTERS
        if self.columns is not None:
            room = max(LEAST_CHARACTERS, self.columns - before - after)
        return text if len(text) <= room else f'{text[: room - 2]}…"'


def paper() -> Paper:
    """Look at stdout."""
    if not sys.stdout.isatty():
        return Paper(None, coloured=False)
    columns = os.get_terminal_size(sys.stdout.fileno()).columns or 80
    return Paper(columns, coloured=not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb")
