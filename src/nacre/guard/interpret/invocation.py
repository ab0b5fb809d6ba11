"""What the walk of a script finds: every program it would start, as far as that can be known.

Values only. Wrappers are listed too: `sudo rm x` yields an invocation of sudo and one of rm.
"""

import re
from dataclasses import dataclass

from nacre.guard.interpret.alphabet import plain, show
from nacre.guard.programs.inner import basename


@dataclass(frozen=True, slots=True)
class Call:
    """How one simple command is called: the facts that all its argument lists share."""

    span: tuple[int, int]
    stdin: str | None = None
    upstream: tuple[str, ...] = ()
    targets: tuple[tuple[str, str], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    via: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Invocation:
    """One program that would be started, with its words in the alphabet of values."""

    argv: tuple[str, ...]
    span: tuple[int, int]
    """Where in the command, as the caller wrote it, this comes from."""
    stdin: str | None = None
    """The text it reads, where that is known."""
    upstream: tuple[str, ...] = ()
    """The words of the program whose output it reads."""
    targets: tuple[tuple[str, str], ...] = ()
    """Redirections: operator and path."""
    environment: tuple[tuple[str, str], ...] = ()
    directory: str = ""
    """Where the script has gone with `cd`; empty for where it began."""
    via: tuple[str, ...] = ()
    """The wrappers it was found through."""
    script: str | None = None
    """For a shell: the text it would run."""
    resolved: tuple[str, ...] = ()
    """Its operands as whole paths, where the caller knows where the command runs."""

    @property
    def name(self) -> str:
        """Return the program without its folders; empty for a redirection alone."""
        return basename(self.argv[0]) if self.argv else ""

    @property
    def words(self) -> list[str]:
        """Return the words behind the program, as it would receive them."""
        return [plain(word) for word in self.argv[1:]]

    def __str__(self) -> str:
        return " ".join(show(word) for word in self.argv)


def operands(invocation: Invocation) -> list[str]:
    """Return the words behind the program that are no options."""
    return [word for word in invocation.argv[1:] if not word.startswith("-")]


def flags(invocation: Invocation) -> str:
    """Return the letters of all its short options."""
    return "".join(word[1:] for word in invocation.words if re.fullmatch(r"-[A-Za-z0-9]+", word))


@dataclass(frozen=True, slots=True)
class ScriptReading:
    """The result of reading a script."""

    invocations: tuple[Invocation, ...]
    damaged: bool
    """Some of the text is not valid shell; both readers have looked at it."""
    fork_bomb: str | None = None
    """A function that starts itself without end."""
    hidden: tuple[int, int] | None = None
    """Where a shell runs a text that the script makes in a way that is not followed."""
