"""Matching the first words of a command, for user rules and the table of losses."""

from typing import Final

from nacre.guard.interpret.alphabet import plain
from nacre.guard.programs.inner import basename

ANY: Final = "*"
"""As a wanted word: any one word."""


def covers(wanted: tuple[frozenset[str], ...], argv: tuple[str, ...]) -> bool:
    """True if the command begins with the words, each a set of alternatives; options between them are skipped over."""
    if not argv or len(argv) < len(wanted):
        return False
    first = plain(argv[0])
    if not ({first, basename(first), ANY} & wanted[0]):
        return False
    position = 1
    for choices in wanted[1:]:
        while position < len(argv) and not (plain(argv[position]) in choices or ANY in choices):
            # Options may stand between the words that a rule names (`git -C dir push`).
            if not plain(argv[position]).startswith("-") and not plain(argv[position - 1]).startswith("-"):
                return False
            position += 1
        if position >= len(argv):
            return False
        position += 1
    return True
