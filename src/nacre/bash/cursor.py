"""A position in a script, and what has been noted up to there: the state that every function of the reader moves.

`pos` only moves forward, except where a text turns out not to be what it looked like (`rewound`).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from nacre.bash.budget import TimeBudget
from nacre.bash.tree import Heredoc, Program, UnreadableError

# Real scripts nest two or three expansions; `$(` counts twice, because it costs twice the Python frames.
MAX_NESTING: Final = 80
# Text that looked like arithmetic and was not is read twice; nested, that doubles at each level.
_MAX_RETRIED: Final = 200_000
_BLANKS: Final = re.compile(r"[ \t]*(?:\\\n[ \t]*)*")


@dataclass(slots=True)
class Cursor:
    """A source text and a position in it."""

    source: str
    read_program: "Callable[[Cursor, str], Program]"
    """Reads statements up to a closing text; words need it for their substitutions."""
    budget: TimeBudget
    nesting: int = 0
    pos: int = 0
    damage: list[int] = field(default_factory=list)
    quotes: list[tuple[int, int]] = field(default_factory=list)
    pending: list[Heredoc] = field(default_factory=list)
    """Here-documents whose bodies follow the current line."""
    background: bool = False
    unfinished: bool = False
    retries: int = 0
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = len(self.source)
        if self.nesting > MAX_NESTING:
            raise UnreadableError("substitutions are nested too deeply")

    def nested(self, text: str) -> "Cursor":
        """A cursor for another text, one level deeper."""
        return Cursor(text, self.read_program, self.budget, self.nesting + 1)

    def enter(self) -> None:
        """Go one level deeper in the same text."""
        if self.nesting >= MAX_NESTING:
            raise UnreadableError("expansions are nested too deeply")
        self.nesting += 1

    @property
    def char(self) -> str:
        """Return the character here, empty at the end."""
        return self.source[self.pos : self.pos + 1]

    def at(self, text: str | tuple[str, ...]) -> bool:
        """True if the source goes on with this text."""
        return self.source.startswith(text, self.pos)

    def skip(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Move behind what the pattern matches here."""
        match = pattern.match(self.source, self.pos)
        if match is not None:
            self.pos = match.end()
        return match

    def take(self, pattern: re.Pattern[str]) -> str:
        """Return the text that the pattern matches here, or the next character."""
        start, match = self.pos, pattern.match(self.source, self.pos)
        self.pos = start + 1 if match is None else match.end()
        return self.source[start : self.pos]

    def skip_blanks(self) -> None:
        self.skip(_BLANKS)

    def skip_comment(self) -> None:
        end = self.source.find("\n", self.pos)
        self.pos = self.size if end < 0 else end

    def rewound(self, pos: int, damage: int, quotes: int, pending: list[Heredoc]) -> None:
        """Go back, and forget what was noted since."""
        self.retries += self.pos - pos
        if self.retries > _MAX_RETRIED:
            raise UnreadableError("too many unclosed parentheses")
        self.pos, self.pending = pos, pending
        del self.damage[damage:], self.quotes[quotes:]
