"""Carries bytes between a server and its stdin and stdout, and never blocks the event loop.

The descriptors stay in blocking mode, because the parent process may share them. `poll` is enough: a writable pipe
takes a page, and a sole reader finds the bytes that were announced.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import select
import stat
from collections.abc import Callable

from nacre.json_lines.outbox import Outbox

READ_BYTES = 256 * 1024
# A writable pipe takes this much at once.
PAGE_BYTES = select.PIPE_BUF


def take_streams() -> tuple[int, int]:
    """Move stdin and stdout to other descriptors and return those.

    Afterwards a stray print goes to stderr, and a child that inherits the standard streams cannot reach the wire.
    """
    incoming = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
    outgoing = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return incoming, outgoing


class Incoming:
    """Reads while it is not paused."""

    def __init__(self, fd: int, *, received: Callable[[bytes], None], ended: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._fd = fd
        self._received = received
        self._ended = ended
        self._reading = False
        self._file: asyncio.Handle | None = None
        """The next read of a regular file, which is always readable and which no event loop can watch."""

    def resume(self) -> None:
        if self._reading:
            return
        self._reading = True
        try:
            self._loop.add_reader(self._fd, self._read)
        except PermissionError:
            self._file = self._loop.call_soon(self._read_file)

    def pause(self) -> None:
        if not self._reading:
            return
        self._reading = False
        if self._file is not None:
            self._file.cancel()
        else:
            self._loop.remove_reader(self._fd)

    def _read(self) -> None:
        try:
            data = os.read(self._fd, READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            # A lost terminal or socket counts as the end of input.
            data = b""
        if data:
            self._received(data)
        else:
            self.pause()
            self._ended()

    def _read_file(self) -> None:
        self._read()
        if self._reading:
            self._file = self._loop.call_soon(self._read_file)


class Outgoing:
    """Writes the lines of an outbox as fast as the client reads."""

    def __init__(self, fd: int, outbox: Outbox, *, written: Callable[[], None], broken: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._fd = fd
        self._outbox = outbox
        self._written = written
        self._broken = broken
        self._rest = memoryview(b"")
        self._waiting = False
        self._watching = False
        self.is_broken = False
        self._poll = select.poll()
        self._poll.register(fd, select.POLLOUT)

    @property
    def idle(self) -> bool:
        return self.is_broken or not (self._rest or self._outbox)

    def watch(self) -> None:
        """Detect that the reader is gone, also while nothing is written."""
        # The writing end of a pipe becomes readable only when its reader is gone. A socket reports that on stdin.
        if stat.S_ISFIFO(os.fstat(self._fd).st_mode):
            self._watching = True
            self._loop.add_reader(self._fd, self._lose)

    def unwatch(self) -> None:
        if self._watching:
            self._watching = False
            self._loop.remove_reader(self._fd)

    def _lose(self) -> None:
        self.unwatch()
        if not self.is_broken:
            self.is_broken = True
            self._broken()

    def has_reader(self) -> bool:
        """True if the other end of stdout is open."""
        return not any(events & (select.POLLERR | select.POLLNVAL) for _, events in self._poll.poll(0))

    def flush(self) -> None:
        """Write as much as possible now; the event loop writes the rest."""
        while not self.idle:
            if not self._rest:
                self._rest = memoryview(self._outbox.take())
            if not self._poll.poll(0) or not self._write():
                self._wait()
                return
        self.close()

    def _write(self) -> bool:
        """Write a page; False if the descriptor did not take it."""
        try:
            size = os.write(self._fd, self._rest[:PAGE_BYTES])
        except BlockingIOError:
            return False
        except OSError:
            self._lose()
            return True
        self._rest = self._rest[size:]
        self._written()
        return True

    def _wait(self) -> None:
        if not self._waiting:
            self._waiting = True
            self._loop.add_writer(self._fd, self.flush)

    def close(self) -> None:
        if self._waiting:
            self._waiting = False
            self._loop.remove_writer(self._fd)
