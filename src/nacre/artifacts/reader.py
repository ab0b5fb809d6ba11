"""Reads an artifact by the offsets of the output it was made from, whatever way the bytes lie in the file.

Bytes that the cap dropped are never papered over: every reader says where they were and how many. Memory is bounded by
the caller's limits and by the cap on a line. Nothing here writes.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Self

from nacre.artifacts.layout import RECORD_BYTES, reserve_bytes, ring_pieces
from nacre.artifacts.store import is_being_written
from nacre.errors import ArtifactError
from nacre.output.decode import decode

BLOCK_BYTES = 256 * 1024

# What is held of one line; output without line ends must not fill the memory.
LINE_BYTES = 1024 * 1024

State = Literal["writing", "complete", "interrupted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactEntry:
    """An artifact in the list of all."""

    id: int
    kind: str
    path: str
    state: State
    """`interrupted`: its writer died; what it had written is there."""
    total_bytes: int
    stored_bytes: int
    written_at: float
    """Wall-clock time of the last write."""

    @property
    def dropped_bytes(self) -> int:
        return self.total_bytes - self.stored_bytes


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


@dataclass(frozen=True, slots=True)
class Gap:
    """Bytes of the output that were not looked at."""

    bytes: int
    reason: Literal["dropped", "unsearched"] = "dropped"


@dataclass(frozen=True, slots=True)
class Artifact:
    """An artifact that is open for reading."""

    entry: ArtifactEntry
    extents: tuple[Extent, ...]
    in_order: bool
    """Whether the file itself reads from beginning to end."""
    fd: int

    @classmethod
    def open(cls, artifact_id: int, path: str, sidecar: str) -> Self:
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise ArtifactError(f"artifact {artifact_id} cannot be read: {os.strerror(error.errno or 0)}") from error
        try:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode):
                raise ArtifactError(f"artifact {artifact_id} cannot be read: {path} is not a file")
            live = is_being_written(path)
            record = _read_record(sidecar)
        except BaseException:
            os.close(fd)
            raise
        extents, total, in_order = _survey(record, size=found.st_size, inode=found.st_ino)
        complete = record is not None and record["state"] == "complete"
        entry = ArtifactEntry(
            id=artifact_id,
            kind=os.path.basename(path).split(".")[1],
            path=path,
            state="complete" if complete else "writing" if live else "interrupted",
            total_bytes=total,
            stored_bytes=sum(extent.length for extent in extents),
            written_at=found.st_mtime,
        )
        return cls(entry, extents, in_order, fd)

    def close(self) -> None:
        os.close(self.fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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
            data = os.pread(self.fd, size, extent.position + position - extent.start)
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
        end = self.extents[-1].end if self.extents else 0
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


def _read_record(sidecar: str) -> dict[str, int | str] | None:
    """Return the record beside an artifact; None when it is missing or damaged."""
    try:
        fd = os.open(sidecar, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        record = json.loads(os.pread(fd, RECORD_BYTES, 0))
        numbers = [record[name] for name in ("head_bytes", "cap_bytes", "total_bytes", "plain_inode", "marker_bytes")]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    finally:
        os.close(fd)
    sound = all(isinstance(number, int) and number >= 0 for number in numbers) and numbers[0] < numbers[1]
    return record if sound and record.get("state") in ("writing", "complete") else None


def _survey(record: dict[str, int | str] | None, *, size: int, inode: int) -> tuple[tuple[Extent, ...], int, bool]:
    """Return where the bytes lie, how many the output had, and whether the file reads in order."""
    if record is None:
        return _clipped([(0, 0, size)], size), size, True
    head, cap, total = int(record["head_bytes"]), int(record["cap_bytes"]), int(record["total_bytes"])
    if record["state"] == "complete":
        start, end = total - (cap - head), total
    else:
        # The ring may have been overwritten as far as the reserve past its last record.
        start, end = max(head, total + reserve_bytes(head, cap) - (cap - head)), total
        if total == 0:
            return _clipped([(0, 0, size)], size), size, True
    if record["state"] == "complete" and total <= cap:
        return _clipped([(0, 0, total)], size), total, True
    if record["plain_inode"] == inode:
        pieces = [(0, 0, head), (start, head + int(record["marker_bytes"]), cap - head)]
        return _clipped(pieces, size), total, True
    pieces = [(0, 0, head), *ring_pieces(start, end, head_bytes=head, cap_bytes=cap)]
    return _clipped(pieces, size), total, False


def _clipped(pieces: list[tuple[int, int, int]], size: int) -> tuple[Extent, ...]:
    """Return the extents that are really in a file of `size` bytes, which somebody may have shortened."""
    extents = (Extent(start, position, min(length, size - position)) for start, position, length in pieces)
    return tuple(extent for extent in extents if extent.length > 0)
