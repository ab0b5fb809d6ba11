"""Writes one artifact: every chunk is one system call, nothing is held in memory, nothing ever raises.

The first failure of the disk is remembered in `error` and ends the writing; the command goes on. A file that could not
be written to its end is removed: half a copy would pass for a whole one, and the disk is full as it is.
"""

from __future__ import annotations

import contextlib
import errno
import os

from nacre import forks
from nacre.artifacts.directory import NewArtifact, remove_pair
from nacre.artifacts.layout import encode_record, reserve_bytes
from nacre.state_directory import HERE, Files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.result import ArtifactRef


class ArtifactWriter:
    """An artifact that is being written; made by `ArtifactStore.create`, which hands over the locked descriptor."""

    __slots__ = ("__weakref__", "_files", "_free", "_new", "_open", "_position", "_recorded", "error", "total_bytes")

    def __init__(self, new: NewArtifact, files: Files = HERE) -> None:
        self.total_bytes = 0
        self.error: OSError | None = None
        self._new = new
        self._files = files
        self._open = True
        self._position = 0
        # Up to the cap the size of the file tells how far it is; from there on the record has to.
        self._free = new.cap_bytes
        self._recorded = 0
        forks.hold(self)

    @property
    def id(self) -> int:
        return self._new.id

    @property
    def path(self) -> str:
        return self._new.path

    def write(self, buffer: bytes | bytearray, n: int | None = None) -> None:
        """Append the first `n` bytes of `buffer` (all by default)."""
        if n is None:
            n = len(buffer)
        if not self._open or n == 0:
            return
        view = memoryview(buffer)[:n]
        try:
            while view:
                if not self._free:
                    self._advance()
                part = view if len(view) <= self._free else view[: self._free]
                # A disk that fills up takes a part first and fails with the next call.
                done = self._files.call(os.pwrite, self._new.fd, part, self._position)
                self._position += done
                self._free -= done
                self.total_bytes += done
                view = view[done:]
        except OSError as error:
            self._give_up(error)

    def close(self) -> ArtifactRef | None:
        """Finish the artifact; None when it could not be written, and `error` says why."""
        from nacre.result import ArtifactRef

        if not self._open:
            return None
        new = self._new
        try:
            self._files.call(_finish, new.fd, new.path, new.sidecar, self._record("complete"))
        except OSError as error:
            self._give_up(error)
            return None
        self._open = False
        stored = min(self.total_bytes, new.cap_bytes)
        return ArtifactRef(new.id, new.path, stored, self.total_bytes - stored)

    def discard(self) -> None:
        """Remove the artifact."""
        if self._open:
            self._open = False
            # A directory that does not answer keeps the file until the next prune.
            with contextlib.suppress(OSError):
                self._files.call(remove_pair, self._new.path, self._new.sidecar, self._new.fd)

    def drop(self, *, close: bool) -> None:
        """Leave the artifact to the process that writes it; a fork's copy of its lock would outlive the writing."""
        if self._open and close and self._files is HERE:
            os.close(self._new.fd)
        self._open = False

    def _advance(self) -> None:
        """Make room at the position: turn over at the ring's end, and record how far it is before going on."""
        new = self._new
        if self._position == new.cap_bytes:
            self._position = new.head_bytes
        reserve = reserve_bytes(new.head_bytes, new.cap_bytes)
        if self._recorded + reserve <= self.total_bytes:
            # The record only matters to a reader after a crash; a disk that fails shows at the next write or at close.
            with contextlib.suppress(OSError):
                self._files.call(overwrite_record, new.sidecar, self._record("writing"))
            self._recorded = self.total_bytes
        self._free = min(new.cap_bytes - self._position, self._recorded + reserve - self.total_bytes)

    def _record(self, state: str) -> bytes:
        return encode_record(
            state=state,
            head_bytes=self._new.head_bytes,
            cap_bytes=self._new.cap_bytes,
            total_bytes=self.total_bytes,
            created_at=self._new.created_at,
        )

    def _give_up(self, error: OSError) -> None:
        # Without its frames: they would keep the caller's buffer from being resized.
        self.error = error.with_traceback(None)
        self.discard()


def overwrite_record(sidecar: str, record: bytes) -> None:
    """Write an artifact's record in place."""
    fd = os.open(sidecar, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.pwrite(fd, record, 0)
    finally:
        os.close(fd)


def _finish(fd: int, path: str, sidecar: str, record: bytes) -> None:
    if os.fstat(fd).st_nlink == 0:
        raise FileNotFoundError(errno.ENOENT, "the file was deleted while it was written", path)
    overwrite_record(sidecar, record)
    os.close(fd)
