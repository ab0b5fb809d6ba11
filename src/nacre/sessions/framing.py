"""What a session's shell reports on its socket when a turn ends. Sans-IO.

A report begins and ends with the nonce of its turn, which a script does not know, and NUL, which neither a path nor a
variable can hold, separates its fields. Other bytes on the socket are ignored.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple

from nacre.sessions.checkpoint import action_of
from nacre.sessions.shell_loop import NO_DIRECTORY, NO_PIPE, SAME, SPENT

# Bytes that are not a report are dropped beyond this.
MOST_BYTES = 1 << 20
# The end of a report in which only the status is new.
_BRIEF = f"\0{SAME}\0\0".encode("ascii")
_FIELDS = 4
# An exit code is at most 255.
_CODE_DIGITS = 3


def fresh_secret() -> str:
    """The beginning of a shell's nonces, which no script can guess."""
    # A letter first: in a format of printf a digit would join the NUL before it.
    return f"n{secrets.token_hex(4)}x"


class TurnReport(NamedTuple):
    """How one turn ended."""

    codes: tuple[int, ...]
    """The exit code and, if requested, the stage codes; empty if the script did not run."""
    last: str
    """The pid of the last background process (`$!`), or the answer to a request of ours."""
    traps: str = ""
    """The EXIT and DEBUG traps that the script left, as bash prints them."""
    cwd: str = ""
    problem: str = ""
    """NO_DIRECTORY or NO_PIPE; SPENT if the shell could report only through a child, and cannot go on."""

    def action(self, signal: str) -> str:
        """The action of this trap; empty if there is none."""
        try:
            return action_of(self.traps, signal)
        except ValueError:
            return ""


class ReportReader:
    """Collects bytes until the report with the expected nonce is whole."""

    def __init__(self) -> None:
        self._held = b""
        self._nonce = b""

    def expect(self, nonce: str) -> None:
        """Wait for the report of this turn and drop all bytes before it."""
        self._held = b""
        self._nonce = nonce.encode("ascii")

    def feed(self, data: bytes) -> TurnReport | None:
        edge = self._nonce + b"\0"
        if data.startswith(edge) and data.endswith(_BRIEF + edge):
            # Most turns report only this.
            code = data[len(edge) : -len(edge) - len(_BRIEF)]
            if code.isdigit() and len(code) <= _CODE_DIGITS:
                return TurnReport((int(code),), SAME)
        held = self._held + data
        end = held.rfind(b"\0" + edge)
        start = held.find(edge, 0, max(end, 0))
        if end < 0 or start < 0:
            self._held = held[-MOST_BYTES:]
            return None
        self._held = b""
        fields = held[start + len(edge) : end].split(b"\0")
        if not 1 < len(fields) <= _FIELDS or not fields[0]:
            return None
        status, last, *rest = (part.decode("utf-8", "surrogateescape") for part in fields)
        traps, cwd = [*rest, "", ""][:2]
        words = status.split()
        codes = tuple(int(word) for word in words if word.isascii() and word.isdigit() and len(word) <= _CODE_DIGITS)
        problem = words[0] if words and words[0] in (NO_DIRECTORY, NO_PIPE, SPENT) else ""
        return TurnReport(codes, last, traps, cwd.removesuffix("\n"), problem)
