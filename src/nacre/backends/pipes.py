"""Reads a pipe on the event loop into one reused buffer, at the pipe's own speed.

The buffer is shared by all readers of a thread: the listener copies what it needs before it returns.
A flood is read in bounded turns, so that the loop stays responsive.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import socket
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from nacre import forks
from nacre.backend import Listener
from nacre.backends.start_errors import start_error
from nacre.command import Command, TerminalSize
from nacre.warden.protocol import READ_BYTES

# What a pipe is enlarged to when its writer is ahead of us.
PIPE_BYTES = 1 << 20
# Turns of one wake-up: enough to keep up with a flood, few enough to let others run.
READS_PER_TURN = 16
# The default size of a pipe on Linux: a read of this much means the writer is ahead of us.
FULL_PIPE_BYTES = 65536
OUTPUTS = {"merged": 1, "split": 2}
# IUTF8 of termios, which the module does not name.
_UTF8_INPUT = 0x4000


class _Buffer(threading.local):
    def __init__(self) -> None:
        self.bytes = bytearray(READ_BYTES)
        self.view = [memoryview(self.bytes)]


_buffer = _Buffer()


class PipeReader:
    """Owns the reading end of a pipe until it is closed or taken away."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        fd: int,
        *,
        output: Callable[[bytearray, int], None],
        closed: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._fd: int | None = fd
        self._output = output
        self._closed = closed
        self._grown = False
        forks.hold(self)
        os.set_blocking(fd, False)
        loop.add_reader(fd, self._readable)

    @property
    def open(self) -> bool:
        return self._fd is not None

    @property
    def fd(self) -> int | None:
        return self._fd

    def _readable(self) -> None:
        for _ in range(READS_PER_TURN):
            if not self._read():
                return

    def _read(self) -> bool:
        """Read once; False when there is nothing more now."""
        if self._fd is None:
            return False
        buffer = _buffer
        try:
            size = os.readv(self._fd, buffer.view)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            size = 0  # a terminal that no process has open any more
        if size == 0:
            self.close()
            self._closed()
            return False
        if size >= FULL_PIPE_BYTES and not self._grown:
            self._grow()
        self._output(buffer.bytes, size)
        return size >= FULL_PIPE_BYTES

    def _grow(self) -> None:
        # Only for a flood: an ordinary user's pipes share a budget, and going over it would shrink later ones.
        self._grown = True
        if self._fd is not None and hasattr(fcntl, "F_SETPIPE_SZ"):
            try:
                fcntl.fcntl(self._fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
            except OSError:
                return  # over the user's budget: the pipe stays as it is

    def drain(self) -> None:
        """Read what is there now, without waiting."""
        while self._read():
            pass

    def pause(self) -> None:
        """Stop reading; the descriptor stays ours."""
        if self._fd is not None:
            self._loop.remove_reader(self._fd)

    def take(self) -> int | None:
        """Stop reading and give the descriptor away; None when the pipe has been closed."""
        fd, self._fd = self._fd, None
        if fd is not None:
            self._loop.remove_reader(fd)
        return fd

    def close(self) -> None:
        fd = self.take()
        if fd is not None:
            os.close(fd)

    def drop(self, *, close: bool) -> None:
        """Leave the pipe to the process that reads it."""
        fd, self._fd = self._fd, None
        if fd is not None and close:
            os.close(fd)


def stop_listening(loop: asyncio.AbstractEventLoop, sock: socket.socket) -> None:
    """End the watch of a socket; one that was closed or given up has none."""
    if (fd := sock.fileno()) >= 0:
        loop.remove_reader(fd)


class StreamReaders:
    """The pipes of one command, read on the event loop for its listener."""

    def __init__(self, loop: asyncio.AbstractEventLoop, listener: Listener) -> None:
        self._loop = loop
        self._listener = listener
        self._readers: dict[int, PipeReader] = {}

    def watch(self, streams: Iterable[int], fds: Sequence[int]) -> None:
        """Read these pipes as the command's streams of these numbers."""
        listener = self._listener
        for stream, fd in zip(streams, fds, strict=True):
            self._readers[stream] = PipeReader(
                self._loop, fd, output=partial(listener.output, stream), closed=partial(listener.closed, stream)
            )

    def terminal(self) -> int | None:
        """The descriptor of a terminal, whose one end is for both ways; None when it is closed or was given away."""
        reader = self._readers.get(1)
        return None if reader is None else reader.fd

    @property
    def any_open(self) -> bool:
        return any(reader.open for reader in self._readers.values())

    def drain(self) -> None:
        """Read what is there now, without waiting."""
        for reader in list(self._readers.values()):
            reader.drain()

    def pause(self) -> None:
        """Stop reading."""
        for reader in self._readers.values():
            reader.pause()

    def take(self) -> list[tuple[int, int]]:
        """Stop reading and give the open pipes away: their streams and descriptors."""
        readers, self._readers = self._readers, {}
        return [(stream, fd) for stream, reader in readers.items() if (fd := reader.take()) is not None]

    def close(self) -> None:
        readers, self._readers = self._readers, {}
        for reader in readers.values():
            reader.close()


def make_pipes(command: Command) -> tuple[list[int], list[int]]:
    """The reading and the writing ends that a command needs; raises StartError when they cannot be had."""
    if command.terminal is not None:
        return make_terminal(command, command.terminal)
    readers: list[int] = []
    writers: list[int] = []
    try:
        for _ in range(OUTPUTS[command.streams] + command.side):
            reader, writer = os.pipe()
            readers.append(reader)
            writers.append(writer)
    except OSError as error:
        for fd in [*readers, *writers]:
            os.close(fd)
        raise start_error("descriptors", error.errno, str(error), command) from error
    return readers, writers


def make_terminal(command: Command, size: TerminalSize) -> tuple[list[int], list[int]]:
    """The two ends of a terminal, as those of a pipe: the one that reads the output also types."""
    import termios

    from nacre.warden.terminal import open_terminal

    try:
        reader, writer = open_terminal(size.columns, size.rows)
    except (OSError, termios.error) as error:
        raise start_error("terminal", error.args[0], str(error.args[-1]), command) from error
    return [reader], [writer]
