"""Cuts bytes into lines. Sans-IO: chunking never changes the lines, and memory is bounded."""

from __future__ import annotations

from dataclasses import dataclass

# A line carries one command; this is far above any real one and far below the memory of a machine.
MAX_LINE_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class TooLong:
    """Stands for a line over the limit, whose bytes were dropped."""

    size: int


class LineReader:
    """Collects bytes and returns whole lines, without their newline."""

    def __init__(self, limit: int = MAX_LINE_BYTES) -> None:
        self._limit = limit
        self._held = bytearray()
        self._dropped = 0
        """Bytes of the current line that were dropped because it is over the limit."""

    def feed(self, data: bytes) -> list[bytes | TooLong]:
        *ended, rest = data.split(b"\n")
        found = []
        for part in ended:
            self._hold(part)
            found.append(self._take())
        self._hold(rest)
        return found

    def end(self) -> bytes | TooLong | None:
        """Return the bytes after the last newline; None if there are none."""
        return self._take() if self._held or self._dropped else None

    def _hold(self, part: bytes) -> None:
        if self._dropped or len(self._held) + len(part) > self._limit:
            self._dropped += len(self._held) + len(part)
            self._held.clear()
        else:
            self._held += part

    def _take(self) -> bytes | TooLong:
        line = TooLong(self._dropped) if self._dropped else bytes(self._held)
        self._held.clear()
        self._dropped = 0
        return line
