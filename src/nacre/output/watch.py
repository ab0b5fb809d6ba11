"""Looks for a line in output that comes in pieces: the text as a person would read it, wherever the pieces were cut.

Escapes are taken out first, and a carriage return ends a line, so every state of a progress bar is seen. Memory is that
of the automaton, however long a line is. Sans-IO.
"""

from __future__ import annotations

from nacre.output.decode import TextStream
from nacre.output.escapes import EscapeFilter
from nacre.regex.automaton import compiled


class RegexWatch:
    """Finds out when an expression first matches a line of a stream."""

    __slots__ = ("_decoder", "_escapes", "_regex", "_state", "found")

    def __init__(self, source: str) -> None:
        self._regex = compiled(source)
        self._state = self._regex.begin
        self._decoder = TextStream()
        self._escapes = EscapeFilter()
        self.found = False

    def feed(self, data: bytes) -> bool:
        """Take the next bytes; True once a line matched. `$` is not true at the end of a piece, only of a line."""
        if not self.found:
            text = self._escapes.feed(self._decoder.feed(data)).replace("\r", "\n")
            self._state, end = self._regex.scan(self._state, text)
            self.found = end >= 0
        return self.found

    def pause(self) -> bool:
        """Whether a line matches if nothing follows: `$` is then true at the end of a prompt, too."""
        return self.found or self._regex.matches_here(self._state)
