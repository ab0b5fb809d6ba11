"""Reads what is kept of an output by the offsets the output had, whatever way the bytes lie in the file.

Bytes that a cap dropped are never papered over: every reader says where they were and how many. Memory is bounded by
the caller's limits and by the cap on a line. Nothing here writes.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Self

from nacre.output.decode import decode
from nacre.state_directory import HERE, Files, StateDirectoryError

BLOCK_BYTES = 256 * 1024

# What is held of one line; output without line ends must not fill the memory.
LINE_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Extent:
    """A stretch of the output and where it lies in the file."""

    start: int
    position: int
    length: int

    @property
    def end(self) -> int:
        return self.start + self.length


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive bytes of the output."""

    offset: int
    data: bytes
    skipped_bytes: int = 0
    """Dropped bytes that were passed over to get here."""

    @property
    def end(self) -> int:
        return self.offset + len(self.data)


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    """From 1, counting stored lines."""
    data: bytes
    """Without its newline."""
    cut_bytes: int = 0
    """What the cap on a line left out."""


class LineCounter:
    """Numbers the lines of bytes that come piece by piece: stored lines, and dropped bytes end a line."""

    def __init__(self) -> None:
        self.number = 1
        """Of the line that the next byte belongs to."""
        self._begun = False

    def feed(self, piece: Piece) -> None:
        self.pass_gap(piece)
        if piece.data:
            self.number += piece.data.count(b"\n")
            self._begun = not piece.data.endswith(b"\n")

    def pass_gap(self, piece: Piece) -> None:
        """Count the line that the bytes dropped before this piece have ended."""
        if piece.skipped_bytes and self._begun:
            self.number += 1
            self._begun = False


def line_range(text: str) -> tuple[int, int | None] | None:
    """Return the first and last line of `10:20`, `10:`, `:20` or `10`, counted from 1; None for another text."""
    first, colon, last = text.partition(":")
    numbers = [part for part in (first, last) if part]
    # No file has lines whose numbers have more digits.
    if not numbers or not all(part.isascii() and part.isdigit() and len(part) < 19 for part in numbers):
        return None
    start = max(1, int(first or 1))
    return start, int(last) if last else None if colon else start


@dataclass(frozen=True, slots=True)
class Gap:
    """Bytes of the output that were not looked at."""

    bytes: int
    reason: Literal["dropped", "unsearched"] = "dropped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """An output that is open for reading."""

    fd: int
    extents: tuple[Extent, ...]
    files: Files = HERE
    """Makes the calls on the descriptor."""

    def close(self) -> None:
        # One whose file system does not answer is closed with the process that holds it.
        with contextlib.suppress(StateDirectoryError):
            self.files.call(os.close, self.fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def end(self) -> int:
        """The offset behind the last byte."""
        return self.extents[-1].end if self.extents else 0

    def gaps(self) -> tuple[int, ...]:
        """Return the offsets at which bytes come after dropped ones."""
        ends = (0, *(extent.end for extent in self.extents))
        return tuple(extent.start for extent, end in zip(self.extents, ends, strict=False) if extent.start != end)

    def read(self, offset: int, limit: int) -> Piece:
        """Return up to `limit` bytes from `offset` on, stopping where bytes were dropped; empty at the end."""
        found: list[bytes] = []
        start = position = max(0, offset)
        for extent in self.extents:
            if extent.end <= position:
                continue
            if extent.start > position:
                if found:
                    break
                start = position = extent.start
            size = min(limit, extent.end - position)
            data = self.files.call(os.pread, self.fd, size, extent.position + position - extent.start)
            found.append(data)
            position += len(data)
            limit -= len(data)
            if not limit or len(data) < size:
                break
        skipped = start - max(0, offset) if found else 0
        return Piece(start, b"".join(found), skipped)

    def blocks(self, offset: int = 0) -> Iterator[Piece]:
        """Yield all from `offset` on, piece by piece."""
        while (piece := self.read(offset, BLOCK_BYTES)).data:
            yield piece
            offset = piece.end

    def lines(self, offset: int = 0, limit: int | None = None) -> Iterator[Line | Gap]:
        """Yield `limit` stored lines after the first `offset` ones, and the gap where it lies among them."""
        last = None if limit is None else offset + limit
        seen = 0
        for item in self._all_lines():
            if last is not None and seen >= last:
                return
            if isinstance(item, Line):
                seen = item.number
            if seen > offset or (isinstance(item, Gap) and seen >= offset):
                yield item

    def tail(self, lines: int, limit_bytes: int = LINE_BYTES) -> Piece:
        """Return the last `lines` lines, at most `limit_bytes` of them and nothing from before a gap."""
        end = self.end
        floor = max(0, end - limit_bytes, *self.gaps())
        data = b""
        while lines > 0 and end - len(data) > floor:
            start = max(floor, end - len(data) - BLOCK_BYTES)
            data = self.read(start, end - len(data) - start).data + data
            # The newline at the very end closes the last line, it does not begin another.
            cut = len(data) - 1 if data.endswith(b"\n") else len(data)
            for _ in range(lines):
                cut = data.rfind(b"\n", 0, cut)
                if cut < 0:
                    break
            else:
                data = data[cut + 1 :]
                break
        return Piece(end - len(data), data)

    def grep(self, pattern: str | re.Pattern[str]) -> Iterator[Line | Gap]:
        """Yield the lines in which `pattern` is found, and what could not be searched."""
        search = re.compile(pattern).search
        for item in self._all_lines():
            if isinstance(item, Gap) or search(decode(item.data)):
                yield item
            elif item.cut_bytes:
                yield Gap(item.cut_bytes, "unsearched")

    def _all_lines(self) -> Iterator[Line | Gap]:
        number, line, cut = 0, bytearray(), 0
        for piece in self.blocks():
            if piece.skipped_bytes:
                if line:
                    number += 1
                    yield Line(number, bytes(line), cut)
                    line, cut = bytearray(), 0
                yield Gap(piece.skipped_bytes)
            *ended, rest = piece.data.split(b"\n")
            for part in ended:
                number += 1
                room = LINE_BYTES - len(line)
                yield Line(number, bytes(line) + part[:room], cut + max(0, len(part) - room))
                line, cut = bytearray(), 0
            room = LINE_BYTES - len(line)
            line += rest[:room]
            cut += max(0, len(rest) - room)
        if line:
            yield Line(number + 1, bytes(line), cut)
