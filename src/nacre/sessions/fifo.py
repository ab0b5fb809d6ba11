"""A pipe that a running shell can open: by name, in a private directory, and only until it has done so."""

from __future__ import annotations

import os
import tempfile

# In memory.
SHARED = "/dev/shm"


class Fifo:
    """Owns the name; the reading end is its taker's to close."""

    def __init__(self) -> None:
        """Raises OSError when none can be made."""
        # A temporary directory of the user's choice may be on a file system that does not answer.
        self._directory = tempfile.mkdtemp(
            prefix="nacre-", dir=SHARED if os.access(SHARED, os.W_OK | os.X_OK) else None
        )
        self.path = os.path.join(self._directory, "output")
        try:
            os.mkfifo(self.path, 0o600)
            self.reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            self.remove()
            raise

    def remove(self) -> None:
        """Take the name away; whoever has opened it keeps the pipe."""
        for take, path in ((os.unlink, self.path), (os.rmdir, self._directory)):
            try:
                take(path)
            except FileNotFoundError:
                continue
