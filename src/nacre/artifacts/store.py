"""The directory of artifacts: private, shared by every nacre of one state directory, pruned by age and size.

Names: `<id>.<kind>.log` holds the bytes, `<id>.json` what is needed to read them, `counter` the next id. The counter's
lock serialises creation and removal among processes; a live writer holds a lock on its file. Nothing is ever
overwritten: files are made with O_EXCL, and ids only grow, even when the counter is lost or damaged.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import time

from nacre.artifacts.layout import CAP_BYTES, HEAD_BYTES, encode_record
from nacre.artifacts.writer import ArtifactWriter
from nacre.errors import ArtifactError, ArtifactQuotaError, UnknownArtifactError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from nacre.artifacts.expiry import PruneReport
    from nacre.artifacts.opening import Artifact, ArtifactEntry

# A stopped process may hold the lock for ever; a command does not wait for it.
LOCK_SECONDS = 1.0
LOCK_POLL_SECONDS = 0.001

# Longer counters are damage, not use.
COUNTER_DIGITS = 18

KIND_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")

_NEW = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class ArtifactStore:
    """Artifacts under one directory, which is made when the first one is."""

    __slots__ = ("root",)

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = os.path.abspath(root)

    def create(self, kind: str, *, cap_bytes: int = CAP_BYTES, head_bytes: int = HEAD_BYTES) -> ArtifactWriter:
        """Allot an id and open its file for writing.

        Raises:
            ArtifactError: the directory is not safe or not usable.
            ArtifactQuotaError: there is no room.
        """
        if not kind or not KIND_LETTERS.issuperset(kind):
            raise ValueError(f"an artifact kind is made of a-z, 0-9 and '-', not {kind!r}")
        if not 0 <= head_bytes < cap_bytes:
            raise ValueError(f"a cap of {cap_bytes} bytes leaves no ring behind a head of {head_bytes}")
        with self._translated(), self._lock() as counter:
            return self._allot(counter, kind, cap_bytes=cap_bytes, head_bytes=head_bytes)

    def open(self, artifact_id: int) -> Artifact:
        """Open an artifact for reading.

        Raises:
            UnknownArtifactError: no artifact has that id; the message lists those that exist.
        """
        from nacre.artifacts.opening import Artifact

        path = self._logs().get(artifact_id)
        if path is not None:
            with contextlib.suppress(FileNotFoundError):
                return Artifact.open(artifact_id, path, self._sidecar(artifact_id))
        raise self._unknown(artifact_id)

    def list(self) -> tuple[ArtifactEntry, ...]:
        """Return every artifact, oldest first."""
        entries = []
        for artifact_id in sorted(self._logs()):
            # One that another process has pruned in the meantime, or that is no file of ours, is not listed.
            with contextlib.suppress(ArtifactError), self.open(artifact_id) as artifact:
                entries.append(artifact.entry)
        return tuple(entries)

    def prune(self, *, max_age_seconds: float, max_total_bytes: int, now: float | None = None) -> PruneReport:
        """Remove artifacts that are too old, then the oldest beyond the total; one being written always stays."""
        from nacre.artifacts.expiry import prune

        return prune(
            self,
            max_age_seconds=max_age_seconds,
            max_total_bytes=max_total_bytes,
            now=time.time() if now is None else now,
        )

    def remove(self, artifact_id: int) -> bool:
        """Remove an artifact; False when it is being written or already gone."""
        with self._translated(), self._lock():
            path = self._logs().get(artifact_id)
            if path is None or is_being_written(path):
                return False
            os.unlink(path)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._sidecar(artifact_id))
            return True

    def remove_remains(self) -> None:
        """Remove what crashed processes left: records without a file, half-made copies."""
        if not os.path.isdir(self.root):
            return
        with self._translated(), self._lock():
            logs = self._logs()
            for name in os.listdir(self.root):
                number, _, suffix = name.removeprefix(".").partition(".")
                orphan = suffix == "json" and number.isdigit() and int(number) not in logs
                if orphan or (suffix == "tmp" and number.isdigit()):
                    os.unlink(os.path.join(self.root, name))

    def plain_path(self, artifact_id: int) -> str:
        """Return the path of an artifact as a file in plain order, to be read by any program.

        A ring that has wrapped is first put in order, the dropped middle marked by a line.
        """
        from nacre.artifacts.ordering import put_in_order

        with self.open(artifact_id) as artifact:
            if artifact.in_order:
                return artifact.entry.path
        with self._translated(), self._lock(), self.open(artifact_id) as artifact:
            put_in_order(artifact, self._sidecar(artifact_id), os.path.join(self.root, f".{artifact_id}.tmp"))
            return artifact.entry.path

    def _allot(self, counter: int, kind: str, *, cap_bytes: int, head_bytes: int) -> ArtifactWriter:
        number, created_at = self._next_id(counter), time.time()
        record = encode_record(
            state="writing", head_bytes=head_bytes, cap_bytes=cap_bytes, total_bytes=0, created_at=created_at
        )
        while True:
            path, sidecar = os.path.join(self.root, f"{number}.{kind}.log"), self._sidecar(number)
            try:
                fd = _new_pair(path, sidecar, record)
                break
            except FileExistsError:
                number = max(number, self._highest_id()) + 1
        writer = ArtifactWriter(
            number, fd, path=path, sidecar=sidecar, cap_bytes=cap_bytes, head_bytes=head_bytes, created_at=created_at
        )
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.pwrite(counter, b"%-*d\n" % (COUNTER_DIGITS, number + 1), 0)
        except OSError:
            writer.discard()
            raise
        return writer

    def _next_id(self, counter: int) -> int:
        text = os.pread(counter, COUNTER_DIGITS + 2, 0).strip()
        return int(text) if text.isdigit() and len(text) <= COUNTER_DIGITS else self._highest_id() + 1

    def _highest_id(self) -> int:
        numbers = (name.partition(".")[0] for name in os.listdir(self.root))
        return max((int(number) for number in numbers if number.isdigit()), default=0)

    def _logs(self) -> dict[int, str]:
        try:
            with self._translated():
                names = os.listdir(self.root)
        except ArtifactError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return {}
            raise
        parts = ((name, name.partition(".")[0]) for name in names if name.endswith(".log"))
        return {int(number): os.path.join(self.root, name) for name, number in parts if number.isdigit()}

    def _sidecar(self, artifact_id: int) -> str:
        return os.path.join(self.root, f"{artifact_id}.json")

    def _unknown(self, artifact_id: int) -> UnknownArtifactError:
        known = sorted(self._logs())
        listed = ", ".join(map(str, known)) if known else "none"
        return UnknownArtifactError(f"no artifact {artifact_id}; available: {listed}")

    @contextlib.contextmanager
    def _lock(self) -> Iterator[int]:
        """Hold the counter's lock, in a directory that is there and safe."""
        _make_private_directory(self.root)
        path = os.path.join(self.root, "counter")
        deadline = time.monotonic() + LOCK_SECONDS
        while True:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                if _try_lock(fd, fcntl.LOCK_EX) and _is_same_file(fd, path):
                    yield fd
                    return
            finally:
                _unlock(fd)
            if time.monotonic() > deadline:
                raise ArtifactError(f"the artifact store {self.root} is locked by another process")
            time.sleep(LOCK_POLL_SECONDS)

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = f"the artifact store {self.root} cannot be used: {os.strerror(error.errno or 0).lower()}"
            if error.errno in _NO_ROOM:
                raise ArtifactQuotaError(f"{reason}; free some with `nacre artifacts prune`") from error
            raise ArtifactError(reason) from error


def is_being_written(path: str) -> bool:
    """Return whether a live process writes the artifact at `path`."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return not _try_lock(fd, fcntl.LOCK_SH)
    finally:
        _unlock(fd)


def _new_pair(path: str, sidecar: str, record: bytes) -> int:
    beside = os.open(sidecar, os.O_WRONLY | _NEW, 0o600)
    try:
        os.write(beside, record)
        return os.open(path, os.O_RDWR | _NEW, 0o600)
    except OSError:
        os.unlink(sidecar)
        raise
    finally:
        os.close(beside)


def _make_private_directory(path: str) -> None:
    try:
        os.mkdir(path, 0o700)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        return _make_private_directory(path)
    except FileExistsError:
        pass
    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode):
        raise ArtifactError(f"the artifact directory {path} is not a directory (links are not followed); remove it")
    if found.st_uid != os.geteuid():
        raise ArtifactError(f"the artifact directory {path} belongs to user {found.st_uid}; choose another NACRE_HOME")
    if stat.S_IMODE(found.st_mode) & 0o077:
        os.chmod(path, 0o700)
    return None


def _unlock(fd: int) -> None:
    # A copy in a child that was forked meanwhile would hold the lock for as long as the child lives.
    fcntl.flock(fd, fcntl.LOCK_UN)
    os.close(fd)


def _try_lock(fd: int, operation: int) -> bool:
    try:
        fcntl.flock(fd, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_same_file(fd: int, path: str) -> bool:
    """Return whether `path` still names the locked file, and not one made after somebody removed it."""
    try:
        return os.path.samestat(os.fstat(fd), os.lstat(path))
    except FileNotFoundError:
        return False
