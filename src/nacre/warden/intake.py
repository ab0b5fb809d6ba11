"""Reads the pipes of a command in a runner or a keeper: into a job's file, or away."""

from __future__ import annotations

import errno
import os
import select
import time

from nacre.warden.protocol import READ_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Sink = Callable[[bytes], None]


def discard(_data: bytes) -> None:
    """The sink of what must be read, so that its writer does not die of SIGPIPE, and that no caller wants."""


class Intake:
    def __init__(self, poll: select.poll) -> None:
        self._poll = poll
        self._sinks: dict[int, Sink] = {}
        self._paused = False
        self.last_output = 0.0

    def attend(self, fds: Iterable[int], sink: Sink) -> None:
        """Read from now on; the sink is told b"" at the end."""
        for fd in fds:
            os.set_blocking(fd, False)
            self._sinks[fd] = sink
            self._poll.register(fd, 0 if self._paused else select.POLLIN)

    @property
    def fds(self) -> list[int]:
        return list(self._sinks)

    def redirect(self, sink: Sink) -> None:
        """Give what comes from now on to another sink."""
        self._sinks = dict.fromkeys(self._sinks, sink)

    def pause(self, *, paused: bool) -> None:
        """Stop reading while the receiver is behind, so that memory stays bounded."""
        if paused != self._paused:
            self._paused = paused
            for fd in self._sinks:
                self._poll.modify(fd, 0 if paused else select.POLLIN)

    def read(self, fd: int) -> bool:
        """Take what is there; False when there is nothing now."""
        data = read_now(fd)
        if data is None:
            return False
        self.last_output = time.monotonic()
        sink = self._sinks[fd]
        if not data:
            self._poll.unregister(fd)
            del self._sinks[fd]
            os.close(fd)
        sink(data)
        return data != b""

    def drain(self, seconds: float) -> None:
        """Read what is in the pipes now, for at most that time."""
        end = time.monotonic() + seconds
        for fd in self.fds:
            while time.monotonic() < end and self.read(fd):
                pass


def read_now(fd: int) -> bytes | None:
    """Read what a stream has: b"" at its end, None when there is nothing now."""
    try:
        return os.read(fd, READ_BYTES)
    except BlockingIOError:
        return None
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        return b""  # a terminal that no process has open any more
