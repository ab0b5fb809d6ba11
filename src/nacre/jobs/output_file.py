"""Opens a job's output file for reading, running or ended, and says what is not as it should be.

The runner keeps the file's first bytes and its newest, and gives the middle back to the file system: a hole, which
would read as zeros. The file system tells where it is, so every nacre sees the same one whatever its settings are.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from typing import Self

from nacre.artifacts.stored import Extent, Piece, Stored
from nacre.errors import JobError
from nacre.jobs.job import Job
from nacre.wording import were

# A hole's ends are rounded to blocks; what is left of a block is zeros. Pages of shared memory may be large.
EDGE_BYTES = 64 * 1024
# No file system has smaller ones that matter.
BLOCK_BYTES = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFile(Stored):
    """A job's output, open for reading; as long as it was when it was opened."""

    notices: tuple[str, ...] = ()

    @classmethod
    def open(cls, job: Job) -> Self:
        """Open the output of a job; one that was deleted is empty and has a notice.

        Raises:
            JobError: it is no file, or may not be read.
        """
        try:
            place = job.files
            fd, extents, notices = place.call(_open, job)
        except OSError as error:
            reason = f"{job.output_file} is a link" if error.errno == errno.ELOOP else error.strerror
            raise JobError(f"the output of {job.id} cannot be read: {reason}") from error
        return cls(fd=fd, extents=extents, files=place, notices=notices)

    @classmethod
    def again(cls, job: Job, fd: int) -> Self:
        """Look once more at an output that is open already, even if its file was removed; `fd` stays the caller's."""
        own = os.dup(fd)
        try:
            extents = job.files.call(_extents, own, os.fstat(own).st_size)
        except BaseException:
            os.close(own)
            raise
        return cls(fd=own, extents=extents, files=job.files)

    def read(self, offset: int, limit: int) -> Piece:
        """As every output is read; a hole that has grown under us is passed over, not read as zeros."""
        known = self.extents
        while True:
            # Named, as a dataclass with slots is a new class that `super()` does not know.
            piece = Stored.read(Stored(fd=self.fd, extents=known, files=self.files), offset, limit)
            if b"\0" not in piece.data:
                return piece
            fresh = self.files.call(_extents, self.fd, self.end)
            if fresh == known:
                return piece
            known = fresh


def _open(job: Job) -> tuple[int, tuple[Extent, ...], tuple[str, ...]]:
    """Return the descriptor, where the bytes are, and notices."""
    try:
        fd = os.open(job.output_file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        fd = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        return fd, (), (f"the output file {job.output_file} is gone: it was deleted",)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise JobError(f"the output of {job.id} cannot be read: {job.output_file} is not a file")
        extents = _extents(fd, found.st_size)
    except BaseException:
        os.close(fd)
        raise
    return fd, extents, _notices(job, extents, found.st_size)


def _extents(fd: int, size: int) -> tuple[Extent, ...]:
    """Return where the bytes of the first `size` are: before the dropped middle and after it."""
    size = min(size, os.fstat(fd).st_size)
    hole, after = _hole(fd, size)
    edge = os.pread(fd, min(EDGE_BYTES, hole), max(0, hole - EDGE_BYTES)) if hole < size else b""
    head = hole - (len(edge) - len(edge.rstrip(b"\0")))
    edge = os.pread(fd, EDGE_BYTES, after) if hole < size else b""
    start = after + len(edge) - len(edge.lstrip(b"\0"))
    extents = (Extent(0, 0, head), Extent(start, start, size - start))
    return tuple(extent for extent in extents if extent.length > 0)


def _hole(fd: int, size: int) -> tuple[int, int]:
    """Return where the first hole begins and where bytes come after the last one; the size twice for none."""
    first = _next_hole(fd, 0, size)
    if first >= size:
        return size, size
    # Each step of the cap leaves a block of zeros between two holes; there may be thousands. Behind the last hole there
    # is none, so it can be found by halves.
    inside, behind = first, size
    while behind - inside > BLOCK_BYTES:
        middle = (inside + behind) // 2
        if _next_hole(fd, middle, size) < size:
            inside = middle
        else:
            behind = middle
    try:
        return first, min(size, os.lseek(fd, _next_hole(fd, inside, size), os.SEEK_DATA))
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        return first, size


def _next_hole(fd: int, offset: int, size: int) -> int:
    try:
        return min(size, os.lseek(fd, offset, os.SEEK_HOLE))
    except OSError:
        # Nothing there, or a file system that does not know; that one cannot punch holes either.
        return size


def _notices(job: Job, extents: tuple[Extent, ...], size: int) -> tuple[str, ...]:
    notices = []
    written = job.record.get("outputBytes")
    if isinstance(written, int) and size < written:
        notices.append(f"{were(written, 'byte')} written, only {size} left: the output file was shortened")
    lost = job.record.get("droppedBytes")
    if isinstance(lost, int) and lost and len(extents) < 2:
        notices.append(f"{were(lost, 'byte', ' at the end')} dropped: the output is larger than what is kept of it")
    if job.record.get("outputError"):
        notices.append(f"the output could not be written to the end: {job.record['outputError']}")
    return tuple(notices)
