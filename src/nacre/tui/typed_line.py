"""What a person typed: a command, a move of the session, or something that is neither. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

# `cd` and one plain word, quoted or not: nothing that the shell would do beside the move.
_CD = re.compile(r"cd(?:\s+(?:--\s+)?(?:'[^']*'|\"[^\"`$\\]*\"|[^\s'\"`$&|;<>(){}\\*?\[\]#!]+))?\Z")

HINT = "begin with ! to run a command (the selected agent sees it), or with !! (no agent does); cd DIR moves"


@dataclass(frozen=True, slots=True)
class Bang:
    """A command to run."""

    command: str
    seen: bool
    """Whether the selected agent reads the command and its output."""


@dataclass(frozen=True, slots=True)
class Move:
    """A move of the person's session: `cd` with a directory, or home."""

    command: str


@dataclass(frozen=True, slots=True)
class Search:
    text: str


def read_line(line: str) -> Bang | Move | Search | str | None:
    """Return what a line asks for; a hint where it asks for nothing known, None for an empty line."""
    text = line.strip()
    if text.startswith("!!"):
        command, seen = text[2:].strip(), False
    elif text.startswith("!"):
        command, seen = text[1:].strip(), True
    elif text.startswith("/"):
        return Search(text[1:]) if text[1:] else None
    else:
        if not text:
            return None
        return Move(text) if _CD.match(text) else HINT
    if not command:
        return None
    return Move(command) if _CD.match(command) else Bang(command, seen)
