"""The directory of artifacts: private, with a lock that serialises creation and removal among processes.

Names: `<id>.<kind>.log` holds the bytes, `<id>.json` what is needed to read them, `counter` the next id. A live writer
holds a lock on its file. Files are made with O_EXCL, so nothing is ever overwritten, and ids only grow, even when the
counter is lost or damaged.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import time
from typing import NamedTuple

from nacre.artifacts.layout import encode_record
from nacre.errors import ArtifactError, ArtifactQuotaError
from nacre.state_directory import lock_seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LOCK_POLL_SECONDS = 0.001

# Longer counters are damage, not use.
COUNTER_DIGITS = 18

_NEW = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class NewArtifact(NamedTuple):
    """The files of an artifact that is about to be written."""

    id: int
    fd: int
    """Of the file for the bytes, locked."""
    path: str
    sidecar: str
    cap_bytes: int
    head_bytes: int
    created_at: float


def allot(root: str, kind: str, *, cap_bytes: int, head_bytes: int) -> NewArtifact:
    """Make the files of a new artifact; the directory is made when the first one is."""
    created_at = time.time()
    record = encode_record(
        state="writing", head_bytes=head_bytes, cap_bytes=cap_bytes, total_bytes=0, created_at=created_at
    )
    with translated(root), locked(root) as counter:
        text = os.pread(counter, COUNTER_DIGITS + 2, 0).strip()
        number = int(text) if text.isdigit() and len(text) <= COUNTER_DIGITS else _highest_id(root) + 1
        while True:
            path, sidecar = os.path.join(root, f"{number}.{kind}.log"), sidecar_of(root, number)
            try:
                fd = _new_pair(path, sidecar, record)
                break
            except FileExistsError:
                number = max(number, _highest_id(root)) + 1
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.pwrite(counter, b"%-*d\n" % (COUNTER_DIGITS, number + 1), 0)
        except OSError:
            remove_pair(path, sidecar, fd)
            raise
    return NewArtifact(
        id=number,
        fd=fd,
        path=path,
        sidecar=sidecar,
        cap_bytes=cap_bytes,
        head_bytes=head_bytes,
        created_at=created_at,
    )


def remove_pair(path: str, sidecar: str, fd: int) -> None:
    """Remove an artifact that its writer gives up."""
    for name in (path, sidecar):
        # One that is not removable now is tried again by the next prune.
        with contextlib.suppress(OSError):
            os.unlink(name)
    os.close(fd)


def logs(root: str) -> dict[int, str]:
    """Return the files of all artifacts by id."""
    try:
        with translated(root):
            names = os.listdir(root)
    except ArtifactError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return {}
        raise
    parts = ((name, name.partition(".")[0]) for name in names if name.endswith(".log"))
    return {int(number): os.path.join(root, name) for name, number in parts if number.isdigit()}


def sidecar_of(root: str, artifact_id: int) -> str:
    """Return the file of an artifact's record."""
    return os.path.join(root, f"{artifact_id}.json")


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


@contextlib.contextmanager
def locked(root: str) -> Iterator[int]:
    """Hold the counter's lock, in a directory that is there and safe; gives its descriptor."""
    _make_private_directory(root)
    path = os.path.join(root, "counter")
    deadline = time.monotonic() + lock_seconds()
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            if _try_lock(fd, fcntl.LOCK_EX) and _is_same_file(fd, path):
                yield fd
                return
        finally:
            _unlock(fd)
        if time.monotonic() > deadline:
            raise ArtifactError(f"the artifact store {root} is locked by another process")
        time.sleep(LOCK_POLL_SECONDS)


@contextlib.contextmanager
def translated(root: str) -> Iterator[None]:
    """Raise ArtifactError for an OSError."""
    try:
        yield
    except OSError as error:
        reason = f"the artifact store {root} cannot be used: {os.strerror(error.errno or 0).lower()}"
        if error.errno in _NO_ROOM:
            raise ArtifactQuotaError(f"{reason}; free some with `nacre artifacts prune`") from error
        raise ArtifactError(reason) from error


def _highest_id(root: str) -> int:
    numbers = (name.partition(".")[0] for name in os.listdir(root))
    return max((int(number) for number in numbers if number.isdigit()), default=0)


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
    """Return whether `path` still names the locked file, and not one made after another process removed it."""
    try:
        return os.path.samestat(os.fstat(fd), os.lstat(path))
    except FileNotFoundError:
        return False
