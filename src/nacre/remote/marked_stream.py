"""Tells the lines of a far side from the output of a command that comes over the same stream. Sans-IO."""

from __future__ import annotations

from collections.abc import Iterator


class MarkedStream:
    """Bytes in; output as bytes, and lines that begin with the mark as text. The command does not know the mark."""

    def __init__(self, mark: bytes) -> None:
        self._mark = mark
        self._held = b""

    def feed(self, data: bytes) -> Iterator[bytes | str]:
        """What has become clear: a piece that may be the beginning of a mark waits for the next."""
        rest = self._held + data
        while (at := rest.find(self._mark)) >= 0:
            if at:
                yield rest[:at]
            end = rest.find(b"\n", at)
            if end < 0:
                self._held = rest[at:]
                return
            yield rest[at + len(self._mark) : end].decode("utf-8", "surrogateescape")
            rest = rest[end + 1 :]
        longest = min(len(rest), len(self._mark) - 1)
        keep = next((size for size in range(longest, 0, -1) if self._mark.startswith(rest[-size:])), 0)
        self._held = rest[len(rest) - keep :]
        if len(rest) > keep:
            yield rest[: len(rest) - keep]

    def rest(self) -> bytes:
        """What waited for more, at the end of the stream."""
        held, self._held = self._held, b""
        return held
