"""What a session's shell says on its socket: frames that begin and end with the turn's own nonce. Sans-IO.

A script can reach the descriptor only from within the shell itself, and does not know the nonce: what else is found
there is no frame. NUL, which neither a path nor a variable can hold, separates the fields.
"""

from __future__ import annotations

from typing import NamedTuple

from nacre.sessions.checkpoint import action_of
from nacre.sessions.shell_loop import SAME, SPENT

# Whatever a script writes there on purpose is dropped beyond this.
MOST_BYTES = 1 << 20
# The end of a frame in which only the status is news.
_BRIEF = f"\0{SAME}\0\0".encode("ascii")
_FIELDS = 4


class Frame(NamedTuple):
    """The end of one turn."""

    status: str
    """The exit code and, where they were asked for, the stage codes; or why the script was not run."""
    last: str
    """The pid of the last background process (`$!`), or what else was asked for."""
    traps: str = ""
    """The EXIT and DEBUG traps that the script has left, as bash prints them."""
    cwd: str = ""

    @property
    def codes(self) -> list[int]:
        return [int(word) for word in self.status.split() if word.isdigit()]

    @property
    def spent(self) -> bool:
        """Whether the shell could tell this only through a child, and cannot go on."""
        return self.status.startswith(SPENT)

    def action(self, signal: str) -> str:
        """What the trap of this name runs; empty when there is none."""
        try:
            return action_of(self.traps, signal)
        except ValueError:
            return ""


class Frames:
    """Collects bytes until the frame of the expected nonce is whole."""

    def __init__(self) -> None:
        self._held = b""
        self._nonce = b""

    def expect(self, nonce: str) -> None:
        """Wait for this turn; whatever came before is not its."""
        self._held = b""
        self._nonce = nonce.encode("ascii")

    def feed(self, data: bytes) -> Frame | None:
        begun = self._nonce + b"\0"
        if data.startswith(begun) and data.endswith(_BRIEF + begun):
            # What most turns say, and nothing else.
            code = data[len(begun) : -len(begun) - len(_BRIEF)]
            if code.isdigit():
                return Frame(code.decode("ascii"), SAME)
        held = self._held + data if self._held else data
        nonce = self._nonce
        end = held.rfind(b"\0" + nonce + b"\0")
        start = held.find(nonce + b"\0", 0, max(end, 0))
        if end < 0 or start < 0:
            self._held = held[-MOST_BYTES:]
            return None
        self._held = b""
        fields = held[start + len(nonce) + 1 : end].split(b"\0")
        if not 1 < len(fields) <= _FIELDS or not fields[0]:
            return None
        status, last, *rest = (part.decode("utf-8", "surrogateescape") for part in fields)
        traps, cwd = [*rest, "", ""][:2]
        return Frame(status, last, traps, cwd.removesuffix("\n"))
