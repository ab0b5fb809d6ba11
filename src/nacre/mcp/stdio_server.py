"""Serves one client on stdin and stdout, as lines of JSON.

The two descriptors are moved away before anything is started: a command, or a stray print, finds /dev/null and stderr
in their place. The event loop reads and writes them itself; handing each line to a thread and back, as the SDK's own
transport does, would cost more than the command.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import stat
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self

from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from mcp.types.jsonrpc import INVALID_REQUEST
from pydantic import ValidationError

READ_BYTES = 256 * 1024
# The SDK's own limit for a request over HTTP; a line without an end would fill the memory.
MOST_LINE_BYTES = 4 * 1024 * 1024
# An answer has its text twice, and escapes in both.
PIPE_BYTES = 256 * 1024
# Above the numbers that scripts use.
LEAST_FD = 10


async def serve_stdio(server: Server[None]) -> None:
    """Serve until the client closes our stdin, or stops reading our stdout."""
    with claimed() as (source, sink):
        frames = Frames(sink)
        lines = Lines(source, frames.refuse)
        lines.open()
        # A client that reads no answer gets no command run: that it stops reading is the end, as the end of stdin is.
        frames.open(lines.close)
        try:
            await server.run(lines, frames, server.create_initialization_options())
        finally:
            frames.close()
            lines.close()


@contextmanager
def claimed() -> Iterator[tuple[int, int]]:
    """Private copies of stdin and stdout, which nothing that we start can reach."""
    source = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, LEAST_FD)
    sink = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, LEAST_FD)
    sys.stdout.flush()
    nowhere = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(nowhere, 0)
    os.dup2(2, 1)
    os.close(nowhere)
    blocking = os.get_blocking(sink)
    # Only a pipe or a socket has an end of its own: a terminal's mode is shared with whoever started us.
    if stat.S_ISFIFO(mode := os.fstat(sink).st_mode) or stat.S_ISSOCK(mode):
        os.set_blocking(sink, False)
    try:
        yield source, sink
    finally:
        os.set_blocking(sink, blocking)
        os.dup2(source, 0)
        os.dup2(sink, 1)
        os.close(source)
        os.close(sink)


class Lines:
    """What the client sends, message by message; ends with its end of the pipe."""

    def __init__(self, fd: int, refuse: Callable[[int, str], None]) -> None:
        self._fd = fd
        self._refuse = refuse
        self._buffer = bytearray()
        self._skipping = False
        self._messages: deque[SessionMessage] = deque()
        self._arrived = asyncio.Event()
        self._ended = False
        self._open = False

    def open(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            loop.add_reader(self._fd, self._read)
        except PermissionError:
            # A file is always ready, which epoll has no word for.
            while not self._ended:
                self._read()
            return
        self._open = True

    def close(self) -> None:
        if self._open:
            asyncio.get_running_loop().remove_reader(self._fd)
            self._open = False
        self._ended = True
        self._arrived.set()

    def _read(self) -> None:
        try:
            data = os.read(self._fd, READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            # A client that is gone may leave an error behind instead of an end.
            data = b""
        if not data:
            self.close()
            return
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._take(bytes(self._buffer) + line if self._buffer else line)
            self._buffer.clear()
        if self._skipping:
            return
        self._buffer += rest
        if len(self._buffer) > MOST_LINE_BYTES:
            self._buffer.clear()
            self._skipping = True
            self._refuse(INVALID_REQUEST, f"a line is longer than {MOST_LINE_BYTES} bytes")

    def _take(self, line: bytes) -> None:
        if self._skipping:
            # The end of a line that was refused already.
            self._skipping = False
            return
        if not line.strip():
            return
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError as error:
            broken = any(one["type"] == "json_invalid" for one in error.errors(include_input=False, include_url=False))
            self._refuse(PARSE_ERROR if broken else INVALID_REQUEST, "a line must be one JSON-RPC message")
            return
        self._messages.append(SessionMessage(message))
        self._arrived.set()

    async def receive(self) -> SessionMessage | Exception:
        return await self.__anext__()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        while not self._messages:
            if self._ended:
                raise StopAsyncIteration
            self._arrived.clear()
            await self._arrived.wait()
        return self._messages.popleft()

    async def aclose(self) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


class Frames:
    """What the client gets, one whole line after the other.

    A frame that was begun is finished, whoever stops waiting for it: half a line would spoil all that follow.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._pending: deque[memoryview] = deque()
        self._room = asyncio.Event()
        self._waiting = False
        self._gone = False
        self._wide = False
        self._on_gone: Callable[[], None] | None = None
        self._watching = False

    def open(self, on_gone: Callable[[], None]) -> None:
        """Call back when the client has closed its end, also while nothing is written."""
        self._on_gone = on_gone
        # The writing end of a pipe is readable only with an error: nobody reads it. A socket has its end in stdin.
        if stat.S_ISFIFO(os.fstat(self._fd).st_mode):
            self._watching = True
            asyncio.get_running_loop().add_reader(self._fd, self._lose)

    def close(self) -> None:
        """Stop watching; the descriptor is given back by the caller that claimed it."""
        if self._watching:
            self._watching = False
            asyncio.get_running_loop().remove_reader(self._fd)

    def _lose(self) -> None:
        self._gone = True
        self._pending.clear()
        self.close()
        self._stop_waiting()
        self._room.set()
        if self._on_gone is not None:
            self._on_gone()

    async def send(self, item: SessionMessage) -> None:
        """Write a message; a client that does not read is waited for."""
        self._put(item)
        if self._pending:
            self._room.clear()
            await self._room.wait()

    def refuse(self, code: int, reason: str) -> None:
        """Tell the client of a line that is no message."""
        self._put(SessionMessage(JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=code, message=reason))))

    def _put(self, item: SessionMessage) -> None:
        if not self._gone:
            frame = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode()
            self._pending.append(memoryview(frame + b"\n"))
            self._flush()

    def _flush(self) -> None:
        while self._pending:
            try:
                written = os.write(self._fd, self._pending[0])
            except BlockingIOError:
                if self._widen():
                    continue
                if not self._waiting:
                    self._waiting = True
                    asyncio.get_running_loop().add_writer(self._fd, self._flush)
                return
            except OSError:
                # Nobody reads any more: what is still said is lost.
                self._lose()
                return
            if written == len(self._pending[0]):
                self._pending.popleft()
            else:
                self._pending[0] = self._pending[0][written:]
        self._stop_waiting()
        self._room.set()

    def _widen(self) -> bool:
        """Make room for a whole answer, once: a client that reads it in pieces wakes us for each of them."""
        if self._wide:
            return False
        self._wide = True
        try:
            fcntl.fcntl(self._fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        except (AttributeError, OSError):
            # Not a pipe, not Linux, or the user has no more of them; it is slower and nothing else.
            return False
        return True

    def _stop_waiting(self) -> None:
        if self._waiting:
            self._waiting = False
            asyncio.get_running_loop().remove_writer(self._fd)

    async def aclose(self) -> None:
        """The descriptor itself is given back by whoever claimed it."""
        self._stop_waiting()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
