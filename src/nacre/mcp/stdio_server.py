"""Serves one client on stdin and stdout, as lines of JSON.

The two descriptors are moved before anything starts: a command or a stray print finds /dev/null and stderr in their
place. The event loop reads and writes them itself, because the SDK's transport hands each line to a thread, which costs
more than a command.
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
# The SDK's limit for a request over HTTP; a line without an end would fill the memory.
MOST_LINE_BYTES = 4 * 1024 * 1024
# An answer has its text twice, with escapes in both.
PIPE_BYTES = 256 * 1024
# Above the numbers that scripts use.
LEAST_FD = 10


async def serve_stdio(server: Server[None]) -> None:
    """Serve until the client closes our stdin, or stops reading our stdout."""
    with claimed() as (source, sink):
        writer = MessageWriter(sink)
        reader = MessageReader(source, writer.refuse)
        reader.open()
        # A closed stdout ends the server, as a closed stdin does: no command runs if its answer cannot be read.
        writer.open(reader.close)
        try:
            await server.run(reader, writer, server.create_initialization_options())
        finally:
            writer.close()
            reader.close()


@contextmanager
def claimed() -> Iterator[tuple[int, int]]:
    """Yield private copies of stdin and stdout, which no child process can reach."""
    source = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, LEAST_FD)
    sink = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, LEAST_FD)
    sys.stdout.flush()
    nowhere = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(nowhere, 0)
    os.dup2(2, 1)
    os.close(nowhere)
    blocking = os.get_blocking(sink)
    # Only for a pipe or a socket: the mode of a terminal is shared with the parent process.
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


class MessageReader:
    """The messages of the client, until it closes its end of the pipe."""

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
            # epoll does not support regular files, which are always ready.
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
            # A lost client may cause an error instead of an end of file.
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
            # The rest of a line that was refused.
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


class MessageWriter:
    """Sends messages to the client as whole lines.

    A line that was begun is finished even if its sender is cancelled: half a line would corrupt all later ones.
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
        """Call `on_gone` when the client closes its end, also while nothing is written."""
        self._on_gone = on_gone
        # The writing end of a pipe becomes readable only when its reader is gone. A socket reports that on stdin.
        if stat.S_ISFIFO(os.fstat(self._fd).st_mode):
            self._watching = True
            asyncio.get_running_loop().add_reader(self._fd, self._lose)

    def close(self) -> None:
        """Stop watching; `claimed` closes the descriptor."""
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
        """Write a message, and wait until the client has read it."""
        self._put(item)
        if self._pending:
            self._room.clear()
            await self._room.wait()

    def refuse(self, code: int, reason: str) -> None:
        """Answer a line that is not a message."""
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
                # The reader is gone: later messages are lost.
                self._lose()
                return
            if written == len(self._pending[0]):
                self._pending.popleft()
            else:
                self._pending[0] = self._pending[0][written:]
        self._stop_waiting()
        self._room.set()

    def _widen(self) -> bool:
        """Enlarge the pipe once for a whole answer, to avoid a wakeup for each piece that the client reads."""
        if self._wide:
            return False
        self._wide = True
        try:
            fcntl.fcntl(self._fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        except (AttributeError, OSError):
            # Not a pipe, not Linux, or over the limit of the user: writing is only slower.
            return False
        return True

    def _stop_waiting(self) -> None:
        if self._waiting:
            self._waiting = False
            asyncio.get_running_loop().remove_writer(self._fd)

    async def aclose(self) -> None:
        """Stop waiting for room; `claimed` closes the descriptor."""
        self._stop_waiting()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
