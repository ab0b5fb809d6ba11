"""Looks for a line in output that comes in pieces: the text as a person would read it, wherever the pieces were cut.

Escapes are taken out first, and a carriage return ends a line, so every state of a progress bar is seen. Memory is that
of the automaton and one piece, however long a line is. Sans-IO.
"""

from __future__ import annotations

from nacre.output.decode import IncrementalDecoder
from nacre.output.escapes import EscapeFilter
from nacre.output.plain_bytes import is_plain
from nacre.regex.automaton import WorkBudget, compiled

# What is shown of the line that matched, and so kept of the one that is being written.
LINE_CHARACTERS = 500


class RegexWatch:
    """Finds out when an expression matches a line of a stream."""

    __slots__ = ("_before", "_budget", "_decoder", "_escapes", "_regex", "_rest", "_skipping", "_state", "line")

    def __init__(self, source: str) -> None:
        self._regex = compiled(source)
        self._budget = WorkBudget()
        self._state = self._regex.begin
        self._decoder = IncrementalDecoder("replace")
        self._escapes = EscapeFilter()
        self._before = ""
        self._rest = ""
        self._skipping = False
        self.line: str | None = None
        """The line that matched, as far as it is known."""

    def feed(self, data: bytes) -> bool:
        """Take the next bytes; True once a line matched. `$` is not true at the end of a piece, only of a line.

        What comes between a match and `resume` is not looked at.

        Raises:
            RegexWorkError: the expression takes too much work on this output; so does every later call.
        """
        if self.found:
            return True
        text = self._decoder.decode(data)
        if not self._escapes.idle or not is_plain(data):
            text = self._escapes.feed(text)
        return self._look(text.replace("\r", "\n"))

    @property
    def found(self) -> bool:
        return self.line is not None

    def pause(self) -> bool:
        """Whether a line matches if nothing follows: `$` is then true at the end of a prompt, too."""
        if not self.found and not self._skipping and self._regex.matches_here(self._state):
            self._found(self._before)
        return self.found

    def resume(self) -> bool:
        """Look for the next match, behind the line that matched; True when there is one already."""
        if not self.found:
            return False
        text, self._rest = self._rest, ""
        self.line = None
        self._skipping = True
        return self._look(text)

    def _look(self, text: str) -> bool:
        if self._skipping:
            _, end, text = text.partition("\n")
            self._skipping = not end
            if self._skipping:
                return False
        self._budget.earn(len(text))
        self._state, end_of_match = self._regex.scan(self._state, text, budget=self._budget)
        if end_of_match >= 0:
            inside = max(0, end_of_match - 1)
            start = text.rfind("\n", 0, inside) + 1
            stop = text.find("\n", inside)
            stop = len(text) if stop < 0 else stop
            self._found((self._before if not start else "") + text[start:stop])
            self._rest = text[stop:]
            return True
        start = text.rfind("\n") + 1
        self._before = ((self._before if not start else "") + text[start:])[-LINE_CHARACTERS:]
        return False

    def _found(self, line: str) -> None:
        self.line = line[:LINE_CHARACTERS]
        self._state = self._regex.begin
        self._before = ""
