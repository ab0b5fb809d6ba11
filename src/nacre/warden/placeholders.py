"""Empty directories in the place of protected names that do not exist, so that bubblewrap can mount over them.

A directory, also for the name of a file: git neither lists nor adds an empty one. All sandboxes of a workspace share
them, and the last that ends removes them; what those of a killed program have left is in the register, and is removed
by the next that ends.
"""

from __future__ import annotations

import fcntl
import os

from nacre.warden.protocol import PLACEHOLDER_MODE


class Placeholders:
    """The placeholders of one workspace, held by this process."""

    def __init__(self, register: str, paths: list[str]) -> None:
        """Make what is missing and keep it until `release`; raises OSError.

        Args:
            register: the file that lists them, and is locked by all that need them.
        """
        self._fd = _locked(register)
        self._register = register
        try:
            for path in paths:
                try:
                    os.mkdir(path)
                except FileExistsError:
                    continue
                os.chmod(path, PLACEHOLDER_MODE)
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
                    os.rmdir(path)
                except OSError:
                    continue  # it is in use by now, or gone
            os.unlink(self._register)
        os.close(self._fd)


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
