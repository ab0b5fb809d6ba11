"""All of a kept output as rows of a given width: indexed in slices, read block by block, in bounded memory."""

from __future__ import annotations

import bisect
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from nacre.artifacts.stored import Piece
from nacre.feed.folding import LEAST_COLUMNS, rows_of
from nacre.output.decode import decode, trim_head
from nacre.output.escapes import strip
from nacre.output.lines import settle
from nacre.output.plain_bytes import is_plain
from nacre.output.sizes import human_size

BLOCK_BYTES = 64 * 1024
# Blocks whose rows are held: more than a screen shows, and enough to scroll without reading twice.
MOST_BLOCKS = 16


class Kept(Protocol):
    """An output that is open for reading (`nacre.artifacts.stored.Stored`)."""

    def read(self, offset: int, limit: int) -> Piece: ...
    def close(self) -> None: ...


def nothing_kept() -> Kept | None:
    """Stand for an output that is not kept anywhere."""
    return None


@dataclass(frozen=True, slots=True)
class _Block:
    rows: int
    offset: int
    length: int
    dropped_before: int


class WholeOutput:
    """The rows of one output at one width."""

    def __init__(self, kept: Kept, width: int) -> None:
        self._kept = kept
        self._width = max(LEAST_COLUMNS, width)
        self._blocks: list[_Block] = []
        self._starts: list[int] = []
        self._offset = 0
        self._texts: OrderedDict[int, list[str]] = OrderedDict()
        self.rows = 0
        """Rows found so far."""
        self.complete = False
        """True once all of the output is indexed."""

    def index(self, seconds: float) -> None:
        """Find further rows for at most about so long."""
        end = time.monotonic() + seconds
        while not self.complete and time.monotonic() < end:
            self._index_block()

    def _index_block(self) -> None:
        piece = self._kept.read(self._offset, BLOCK_BYTES)
        if not piece.data:
            self.complete = True
            return
        data = _whole_lines(piece.data)
        count = _plain_rows(data, self._width)
        if count is None:
            count = len(rows_of(_text(data), self._width))
        count += bool(piece.skipped_bytes)
        self._blocks.append(_Block(count, piece.offset, len(data), piece.skipped_bytes))
        self._starts.append(self.rows)
        self.rows += count
        self._offset = piece.offset + len(data)

    def row(self, number: int) -> str:
        """Return the text of a row; an empty text beyond the rows found so far."""
        if not 0 <= number < self.rows:
            return ""
        index = bisect.bisect_right(self._starts, number) - 1
        rows = self._rows_of_block(index)
        at = number - self._starts[index]
        return rows[at] if at < len(rows) else ""

    def _rows_of_block(self, index: int) -> list[str]:
        known = self._texts.pop(index, None)
        if known is None:
            block = self._blocks[index]
            known = rows_of(_text(self._kept.read(block.offset, block.length).data), self._width)
            if block.dropped_before:
                known.insert(0, f"[… {human_size(block.dropped_before)} dropped here: the output is over its cap …]")
            while len(self._texts) >= MOST_BLOCKS:
                self._texts.popitem(last=False)
        self._texts[index] = known
        return known

    def find(self, text: str, start: int, *, backwards: bool = False) -> int | None:
        """Return the next row from `start` on that holds a text, whatever its case; None if there is none."""
        wanted = text.lower()
        return next((number for number in self._order(start, backwards) if wanted in self.row(number).lower()), None)

    def _order(self, start: int, backwards: bool) -> Iterator[int]:
        return iter(range(min(start, self.rows - 1), -1, -1)) if backwards else iter(range(max(0, start), self.rows))

    def close(self) -> None:
        self._kept.close()


def _text(data: bytes) -> str:
    return settle(strip(decode(data))).text


def _whole_lines(data: bytes) -> bytes:
    """Return the bytes up to the last line end; a piece of a line that has none in all of the block."""
    if len(data) < BLOCK_BYTES:
        return data
    end = data.rfind(b"\n") + 1
    return data[:end] if end else trim_head(data) or data


def _plain_rows(data: bytes, width: int) -> int | None:
    """Return the rows of ASCII without controls whose lines all fit; None for other bytes."""
    if not is_plain(data) or b"\t" in data or b"\r" in data:
        return None
    lines = data.removesuffix(b"\n").split(b"\n")
    return len(lines) if max(map(len, lines)) <= width else None
