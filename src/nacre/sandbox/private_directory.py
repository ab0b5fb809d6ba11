"""What sandboxes of this user need on disk: for each session a directory that is /tmp in it, and lists of placeholders.

Every process that uses a private directory holds a shared lock on it; the last one removes it. What killed programs
have left is removed by the next that makes one.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
import time

from nacre import forks
from nacre.warden.placeholders import Placeholders

_PREFIX, _NAMES = "tmp-", "names-"
# A directory of another program may not be locked in the first moment.
_NEW_SECONDS = 60.0


def base_directory() -> str:
    """The directory of this user's sandboxes, which no other user can enter; raises OSError."""
    path = f"/tmp/nacre-sandbox-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        os.mkdir(path, 0o700)
    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(1, "it is not a directory of this user alone; remove it", path)
    return path


def register_of(directory: str) -> str:
    """The list of the placeholders in a directory."""
    name = hashlib.sha256(directory.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return os.path.join(base_directory(), f"{_NAMES}{name}")


def refusals_of(private: str) -> str:
    """The file in which the proxy of a session's sandboxes notes what it refused, beside its private directory."""
    return f"{private}.refusals"


class PrivateDirectory:
    """A directory of this program for one session's temporary files."""

    def __init__(self) -> None:
        """Raises OSError if it cannot be made."""
        base = base_directory()
        _remove_unused(base)
        self.path = tempfile.mkdtemp(prefix=_PREFIX, dir=base)
        self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(self._lock, fcntl.LOCK_SH)
        forks.hold(self)
        atexit.register(self.close)

    def close(self) -> None:
        """Remove it, unless a job goes on in it, or a runner that is about to end."""
        atexit.unregister(self.close)
        fd, self._lock = self._lock, -1
        if fd >= 0:
            with contextlib.suppress(OSError):
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(self.path, ignore_errors=True)
                os.unlink(refusals_of(self.path))
            os.close(fd)

    def drop(self, *, close: bool) -> None:
        """Leave it to the process that it belongs to."""
        fd, self._lock = self._lock, -1
        if close and fd >= 0:
            os.close(fd)


def _remove_unused(base: str) -> None:
    with os.scandir(base) as entries:
        for entry in entries:
            if time.time() - entry.stat(follow_symlinks=False).st_ctime <= _NEW_SECONDS:
                continue
            with contextlib.suppress(OSError):
                if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False):
                    _remove_if_unused(entry.path)
                elif entry.name.startswith(_NAMES):
                    # The last that lets it go removes what it lists.
                    Placeholders(entry.path, []).release()


def _remove_if_unused(path: str) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
        os.unlink(refusals_of(path))
    finally:
        os.close(fd)
