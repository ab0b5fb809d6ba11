"""The line that a program on a terminal writes at the moment: where a prompt stands. Pure.

Without regular expressions: a runner does not load them.
"""

from __future__ import annotations

# More than any prompt has.
MOST_BYTES = 2048
_ESC, _BEL, _NEWLINE, _RETURN, _BACKSPACE = 0x1B, 0x07, 0x0A, 0x0D, 0x08
# Sequences that move the cursor or erase: a program that sends them draws a screen.
_DRAWING = b"ABCDEFGHJKfhlr"


class LastLine:
    """Fed with the output as it comes, in any pieces."""

    __slots__ = ("_line", "_previous")

    def __init__(self) -> None:
        self._line = b""
        self._previous = b""

    def feed(self, data: bytes) -> None:
        before, newline, rest = (self._line + data).rpartition(b"\n")
        if newline:
            lines = before.rstrip()
            self._previous = lines[lines.rfind(b"\n") + 1 :][-MOST_BYTES:] or self._previous
        self._line = rest[-MOST_BYTES:]

    @property
    def text(self) -> str:
        """The unfinished line as it is seen; "" when the cursor is at the beginning of one."""
        return plain(self._line)

    @property
    def previous(self) -> str:
        """The last whole line that is not blank."""
        return plain(self._previous)

    @property
    def draws(self) -> bool:
        """Whether the unfinished line moves the cursor or erases, as a pager's prompt does."""
        return _draws(self._line)


def plain(line: bytes) -> str:
    """A line without escapes; what follows a carriage return replaces what was before."""
    shown = bytearray()
    at = 0
    while at < len(line):
        byte = line[at]
        if byte == _ESC:
            at = _end_of_sequence(line, at)
            continue
        if byte == _RETURN:
            if at + 1 < len(line):
                shown.clear()
        elif byte == _BACKSPACE:
            del shown[-1:]
        elif byte >= 0x20 or byte == 0x09:
            shown.append(byte)
        at += 1
    return shown.decode("utf-8", "replace")


def _end_of_sequence(line: bytes, at: int) -> int:
    """The index behind the escape sequence that begins here; the end where it is not whole."""
    kind = line[at + 1 : at + 2]
    at += 2
    if kind == b"[":
        while at < len(line) and not 0x40 <= line[at] <= 0x7E:
            at += 1
        return at + 1
    if kind in (b"]", b"P", b"_", b"^", b"X"):
        while at < len(line) and line[at] != _BEL:
            if line[at : at + 2] == b"\x1b\\":
                return at + 2
            at += 1
        return at + 1
    return at + (kind in (b"(", b")", b"#", b"%"))


def _draws(line: bytes) -> bool:
    at = line.find(b"\x1b[")
    while at >= 0:
        end = _end_of_sequence(line, at)
        # Bracketed paste is switched on by line editors too.
        if line[end - 1 : end] in [bytes([one]) for one in _DRAWING] and line[at:end] != b"\x1b[?2004h":
            return True
        at = line.find(b"\x1b[", end)
    return False
