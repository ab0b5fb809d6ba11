"""A bounded view of a stream of any length: everything while it is small, else its first and its last bytes.

Invariant: kept + omitted == total, in bytes and in newlines, whatever the chunks were; memory stays within
`whole_bytes + head_bytes + 2 * tail_bytes`. Bytes only: characters, lines and escapes are the renderer's.
Imported by the far side too, so it needs nothing but builtins.
"""

from __future__ import annotations

# Only a flood comes in chunks of this size.
FLOOD_BYTES = 16 * 1024


class Window:
    """Keep what may be shown of a stream, and count all of it."""

    __slots__ = (
        "_head",
        "_held",
        "_last",
        "_tail",
        "head_bytes",
        "newlines",
        "tail_bytes",
        "total_bytes",
        "whole_bytes",
    )

    def __init__(self, head_bytes: int, tail_bytes: int, *, whole_bytes: int | None = None) -> None:
        """Keep all of it up to `whole_bytes` (by default head and tail together), beyond that head and tail."""
        whole = head_bytes + tail_bytes if whole_bytes is None else whole_bytes
        if head_bytes < 0 or tail_bytes < 0 or whole < head_bytes + tail_bytes:
            raise ValueError(f"a whole of {whole} bytes cannot hold a head of {head_bytes} and a tail of {tail_bytes}")
        self.head_bytes = head_bytes
        self.tail_bytes = tail_bytes
        self.whole_bytes = whole
        self.total_bytes = 0
        self.newlines = 0
        self._last = 10
        self._held: bytearray | None = bytearray()
        self._head = b""
        self._tail = bytearray()

    def feed(self, buffer: bytes | bytearray, n: int | None = None) -> None:
        """Take the first `n` bytes of `buffer` (all by default); the buffer may be reused at once."""
        if n is None:
            n = len(buffer)
        if not n:
            return
        self.total_bytes += n
        self.newlines += _newlines(buffer, n)
        self._last = buffer[n - 1]
        held = self._held
        if held is None:
            self._keep_tail(buffer, n)
        elif self.total_bytes <= self.whole_bytes:
            held += buffer if n == len(buffer) else buffer[:n]
        else:
            self._overflow(held, buffer, n)

    @property
    def overflowed(self) -> bool:
        """Whether the stream is larger than what is kept whole."""
        return self._held is None

    @property
    def unterminated(self) -> bool:
        """Whether the last line lacks its newline."""
        return self._last != 10

    @property
    def total_lines(self) -> int:
        """Lines seen, an unterminated last one counted."""
        return self.newlines + self.unterminated

    @property
    def whole(self) -> bytes | None:
        """All of it, or None once something was omitted."""
        return None if self._held is None else bytes(self._held)

    @property
    def head(self) -> bytes:
        """The first bytes, at most `head_bytes`."""
        return self._head if self._held is None else bytes(self._held[: self.head_bytes])

    @property
    def tail(self) -> bytes:
        """The newest bytes, at most `tail_bytes`; while nothing is omitted it may overlap the head."""
        newest = self._tail if self._held is None else self._held
        return bytes(newest[max(0, len(newest) - self.tail_bytes) :])

    @property
    def omitted_bytes(self) -> int:
        """Bytes that are neither in the head nor in the tail."""
        return 0 if self._held is not None else self.total_bytes - self.head_bytes - self.tail_bytes

    @property
    def omitted_lines(self) -> int:
        """Newlines that are neither in the head nor in the tail."""
        if self._held is not None:
            return 0
        return self.newlines - self._head.count(b"\n") - self.tail.count(b"\n")

    def _overflow(self, held: bytearray, buffer: bytes | bytearray, n: int) -> None:
        missing = max(0, self.head_bytes - len(held))
        self._head = bytes(held[: self.head_bytes]) + bytes(buffer[:missing])
        self._tail = held[max(0, len(held) - self.tail_bytes) :]
        self._held = None
        self._keep_tail(buffer, n)

    def _keep_tail(self, buffer: bytes | bytearray, n: int) -> None:
        tail, limit = self._tail, self.tail_bytes
        if n >= limit:
            tail[:] = buffer[n - limit : n]
            return
        tail += buffer if n == len(buffer) else buffer[:n]
        # Trimming at twice the limit moves each byte once, however small the chunks are.
        if len(tail) > 2 * limit:
            del tail[: len(tail) - limit]


def _newlines(buffer: bytes | bytearray, n: int) -> int:
    """How many of the first `n` bytes are newlines.

    A flood is mostly one line again and again. Such a chunk equals itself shifted by that line, which a comparison
    finds out in a twentieth of the time of a count; any other chunk differs at once.
    """
    if n < FLOOD_BYTES:
        return buffer.count(b"\n", 0, n)
    first = buffer.find(b"\n", 0, n)
    if first < 0:
        return 0
    second = buffer.find(b"\n", first + 1, n)
    line = second - first
    if line > 0 and buffer.startswith(memoryview(buffer)[: n - line], line, n):
        return (n - 1 - first) // line + 1
    return buffer.count(b"\n", 0, n)
