"""Empty directories in the place of protected names that do not exist, so that bubblewrap can mount over them.

A directory, also for the name of a file: git neither lists nor adds an empty one. In a git directory, where git reads
them, files are empty files. All sandboxes share them, and the last that ends removes them; what those of a killed
program have left is in a register, and is removed by the next that ends. Each directory has a register of its own for
what is missing in it: a placeholder that is removed takes the mounts of all sandboxes along.
"""

from __future__ import annotations

import fcntl
import os
import stat

from nacre.warden.protocol import PLACEHOLDER_MODE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Placeholders:
    """The placeholders of one directory, held by this process."""

    def __init__(self, register: str, directories: list[str], files: Sequence[str] = ()) -> None:
        """Make what is missing and keep it until `release`; raises OSError.

        Args:
            register: the file that lists them, and is locked by all that need them.
        """
        self._fd = _locked(register)
        self._register = register
        try:
            for path in (*directories, *files):
                try:
                    if path in files:
                        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444))
                    else:
                        # With its mode from the start: a reader of settings that meets it knows it for what it is.
                        os.mkdir(path, PLACEHOLDER_MODE)
                        os.chmod(path, PLACEHOLDER_MODE)
                except FileExistsError:
                    continue
                os.write(self._fd, os.fsencode(path) + b"\0")
        except OSError:
            self.release()
            raise

    def release(self) -> None:
        """Let them go; the last process that does removes them."""
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            pass  # another needs them, and removes them
        else:
            for path in reversed(listed(self._register)):
                try:
                    _remove(path)
                except OSError:
                    continue  # it is in use by now, or gone
            os.unlink(self._register)
        os.close(self._fd)


def _remove(path: str) -> None:
    """Remove it if it is still empty; raises OSError."""
    found = os.lstat(path)
    if stat.S_ISREG(found.st_mode) and found.st_size == 0:
        os.unlink(path)
    else:
        os.rmdir(path)


def _locked(register: str) -> int:
    """The register, locked with all others that hold it."""
    while True:
        fd = os.open(register, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        fcntl.flock(fd, fcntl.LOCK_SH)
        if os.fstat(fd).st_nlink:
            return fd
        # Its last holder has removed it meanwhile.
        os.close(fd)


def listed(register: str) -> list[str]:
    """The placeholders that a register lists; none if it does not exist."""
    try:
        with open(register, "rb") as file:
            return [os.fsdecode(path) for path in file.read().split(b"\0") if path]
    except OSError:
        return []
