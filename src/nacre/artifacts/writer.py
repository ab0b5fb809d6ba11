"""Writes one artifact: every chunk is one system call, nothing is held in memory, nothing ever raises.

The first failure of the disk is remembered in `error` and ends the writing; the command goes on. A file that could not
be written to its end is removed: half a copy would pass for a whole one, and the disk is full as it is.
"""

from __future__ import annotations

import errno
import os

from nacre import forks
from nacre.artifacts.layout import encode_record, reserve_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.result import ArtifactRef


class ArtifactWriter:
    """An artifact that is being written; made by `ArtifactStore.create`, which hands over the locked descriptor."""

    __slots__ = (
        "__weakref__",
        "_cap",
        "_created_at",
        "_fd",
        "_free",
        "_head",
        "_position",
        "_recorded",
        "_sidecar",
        "error",
        "id",
        "path",
        "total_bytes",
    )

    def __init__(
        self, artifact_id: int, fd: int, *, path: str, sidecar: str, cap_bytes: int, head_bytes: int, created_at: float
    ) -> None:
        self.id = artifact_id
        self.path = path
        self.total_bytes = 0
        self.error: OSError | None = None
        self._fd = fd
        self._sidecar = sidecar
        self._cap = cap_bytes
        self._head = head_bytes
        self._created_at = created_at
        self._position = 0
        # Up to the cap the size of the file tells how far it is; from there on the record has to.
        self._free = cap_bytes
        self._recorded = 0
        forks.hold(self)

    def write(self, buffer: bytes | bytearray, n: int | None = None) -> None:
        """Append the first `n` bytes of `buffer` (all by default)."""
        if n is None:
            n = len(buffer)
        if self._fd < 0 or n == 0:
            return
        view = memoryview(buffer)[:n]
        try:
            while view:
                if not self._free:
                    self._advance()
                # A disk that fills up takes a part first and fails with the next call.
                done = os.pwrite(self._fd, view if len(view) <= self._free else view[: self._free], self._position)
                self._position += done
                self._free -= done
                self.total_bytes += done
                view = view[done:]
        except OSError as error:
            self._give_up(error)

    def close(self) -> ArtifactRef | None:
        """Finish the artifact; None when it could not be written, and `error` says why."""
        from nacre.result import ArtifactRef

        if self._fd < 0:
            return None
        try:
            if os.fstat(self._fd).st_nlink == 0:
                raise FileNotFoundError(errno.ENOENT, "the file was deleted while it was written", self.path)
            self._record("complete")
        except OSError as error:
            self._give_up(error)
            return None
        fd, self._fd = self._fd, -1
        os.close(fd)
        stored = min(self.total_bytes, self._cap)
        return ArtifactRef(self.id, self.path, stored, self.total_bytes - stored)

    def discard(self) -> None:
        """Remove the artifact."""
        fd, self._fd = self._fd, -1
        if fd < 0:
            return
        for path in (self.path, self._sidecar):
            try:
                os.unlink(path)
            except OSError:
                # Removed by somebody else, or not removable: then the next prune tries again.
                pass
        os.close(fd)

    def drop(self, *, close: bool) -> None:
        """Leave the artifact to the process that writes it; a fork's copy of its lock would outlive the writing."""
        fd, self._fd = self._fd, -1
        if fd >= 0 and close:
            os.close(fd)

    def _advance(self) -> None:
        """Make room at the position: turn over at the ring's end, and record how far it is before going on."""
        if self._position == self._cap:
            self._position = self._head
        reserve = reserve_bytes(self._head, self._cap)
        if self._recorded + reserve <= self.total_bytes:
            self._record_progress()
        self._free = min(self._cap - self._position, self._recorded + reserve - self.total_bytes)

    def _record_progress(self) -> None:
        try:
            self._record("writing")
        except OSError:
            # The record only matters to a reader after a crash; a disk that fails shows at the next write or at close.
            pass
        self._recorded = self.total_bytes

    def _record(self, state: str) -> None:
        record = encode_record(
            state=state,
            head_bytes=self._head,
            cap_bytes=self._cap,
            total_bytes=self.total_bytes,
            created_at=self._created_at,
        )
        fd = os.open(self._sidecar, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.pwrite(fd, record, 0)
        finally:
            os.close(fd)

    def _give_up(self, error: OSError) -> None:
        # Without its frames: they would keep the caller's buffer from being resized.
        self.error = error.with_traceback(None)
        self.discard()
