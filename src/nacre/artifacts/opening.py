"""Opens an artifact: finds out from its record where in the file the bytes of the output lie. Nothing here writes."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from typing import Literal, Self

from nacre.artifacts.directory import is_being_written
from nacre.artifacts.layout import RECORD_BYTES, reserve_bytes, ring_pieces
from nacre.artifacts.stored import Extent, Stored
from nacre.errors import ArtifactError

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact(Stored):
    """An artifact that is open for reading."""

    entry: ArtifactEntry
    in_order: bool
    """Whether the file itself reads from beginning to end."""

    @classmethod
    def open(cls, artifact_id: int, path: str, sidecar: str) -> Self:
        """Open it; raises FileNotFoundError for one that is gone, and ArtifactError."""
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
        return cls(fd=fd, extents=extents, entry=entry, in_order=in_order)


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
    """Return the extents that are really in a file of `size` bytes, which another process may have shortened."""
    extents = (Extent(start, position, min(length, size - position)) for start, position, length in pieces)
    return tuple(extent for extent in extents if extent.length > 0)
