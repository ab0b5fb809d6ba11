"""Feeds our standard input to a command through a fifo that its shell opens."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from collections.abc import Iterator

BLOCK_BYTES = 65_536


@contextlib.contextmanager
def fed_fifo() -> Iterator[str]:
    """Make a fifo that gives what our standard input gives, up to its end."""
    with tempfile.TemporaryDirectory(prefix="nacre-stdin-") as directory:
        path = os.path.join(directory, "fifo")
        os.mkfifo(path, 0o600)
        # A daemon: the shell may never open the fifo, and our standard input may never end.
        threading.Thread(target=_feed, args=(path,), daemon=True, name="nacre-stdin").start()
        yield path


def _feed(path: str) -> None:
    # The command may end before its input does, and the fifo may be gone before the shell opens it.
    with contextlib.suppress(BrokenPipeError, FileNotFoundError):
        # Waits until the shell opens the other end.
        fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            while data := memoryview(os.read(0, BLOCK_BYTES)):
                while data:
                    data = data[os.write(fd, data) :]
        finally:
            os.close(fd)
