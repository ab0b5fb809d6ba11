"""A pipe that a running shell can open by name, in a private directory that is removed once it has."""

from __future__ import annotations

import contextlib
import os
import tempfile

# A file system in memory: the user's temporary directory may be on one that does not answer.
_MEMORY = "/dev/shm"


class Fifo:
    """Owns the name; the caller closes the reading end."""

    def __init__(self) -> None:
        """Raises OSError if no FIFO can be made."""
        self._directory = tempfile.mkdtemp(
            prefix="nacre-", dir=_MEMORY if os.access(_MEMORY, os.W_OK | os.X_OK) else None
        )
        self.path = os.path.join(self._directory, "output")
        try:
            os.mkfifo(self.path, 0o600)
            self.reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            self.remove()
            raise

    def remove(self) -> None:
        """Remove the name; a process that has opened the pipe keeps it."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        with contextlib.suppress(FileNotFoundError):
            os.rmdir(self._directory)
