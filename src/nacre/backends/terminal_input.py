"""Types into a terminal whose reading end is this program's, without ever blocking the event loop."""

from __future__ import annotations

import asyncio
import os

from nacre.backend import terminal_gone
from nacre.errors import BackendError

# What a program leaves unread of its input before more is refused.
MOST_UNREAD_BYTES = 64 * 1024


class TerminalInput:
    def __init__(self, loop: asyncio.AbstractEventLoop, fd: int) -> None:
        self._loop = loop
        self._fd = fd
        self._pending = b""

    def write(self, data: bytes) -> None:
        if len(self._pending) + len(data) > MOST_UNREAD_BYTES:
            raise BackendError(f"the command does not read its terminal: {len(self._pending)} bytes are unread")
        waiting = bool(self._pending)
        self._pending += data
        if not waiting:
            self._send()

    def _send(self) -> None:
        try:
            while self._pending:
                self._pending = self._pending[os.write(self._fd, self._pending) :]
        except BlockingIOError:
            self._loop.add_writer(self._fd, self._send)
            return
        except OSError as error:
            self.close()
            raise terminal_gone() from error
        self.close()

    def close(self) -> None:
        """Write no more; the descriptor stays its owner's."""
        self._pending = b""
        self._loop.remove_writer(self._fd)
