"""Ways to reach a machine: each runs a text in a `sh` there, and gives its input and output as one stream of bytes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Sequence
from typing import Protocol

from nacre.errors import BackendUnavailableError

# How long the local program of a link may take to end when its link is closed.
END_SECONDS = 2.0
# What is kept of its error output, for a message.
MOST_ERROR_BYTES = 4096


class Wire(Protocol):
    """An open way to a machine."""

    async def read(self, size: int) -> bytes:
        """What has come, at most so much; b"" at the end."""

    def write(self, data: bytes) -> None:
        """Send it, now or later."""

    async def read_errors(self, size: int) -> bytes:
        """What has come on the error stream, at most so much; b"" at its end, or where the way has none."""

    async def complaint(self) -> str:
        """What the way itself has said about its end: the last line of its error output."""

    async def close(self) -> None:
        """End it; idempotent."""


class Dialer(Protocol):
    """Opens wires to one machine."""

    name: str
    """How messages call the place."""

    async def open(self, text: str) -> Wire:
        """Run a text in a `sh` there; raises BackendUnavailableError when the machine cannot be reached."""

    def describe(self) -> dict[str, object]:
        """What another process needs to dial the same place, as JSON."""


class PrefixDialer:
    """Reaches a place by a program that gives its standard streams there: `docker exec -i NAME`, `ssh HOST`, `srun`."""

    def __init__(self, prefix: Sequence[str], *, name: str | None = None, joined: bool = False) -> None:
        """With the words before `sh -c TEXT`; `joined` for a program that takes one word for a shell there, as ssh."""
        self.prefix = tuple(prefix)
        self.name = name or " ".join(self.prefix)
        self._joined = joined

    def describe(self) -> dict[str, object]:
        return {"kind": "prefix", "prefix": list(self.prefix), "name": self.name, "joined": self._joined}

    async def open(self, text: str) -> Wire:
        from nacre.warden.launch import quoted

        words = [f"exec sh -c {quoted(text)}"] if self._joined else ["sh", "-c", text]
        near, far = socket.socketpair()
        errors, errors_end = os.pipe()
        try:
            process: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: ASYNC220 - it only forks
                [*self.prefix, *words],
                stdin=far.fileno(),
                stdout=far.fileno(),
                stderr=errors_end,
                start_new_session=True,
            )
        except OSError as error:
            near.close()
            os.close(errors)
            raise BackendUnavailableError(
                f"{self.name} cannot be reached: {self.prefix[0]}: {error.strerror or error}"
            ) from error
        finally:
            far.close()
            os.close(errors_end)
        near.settimeout(0)
        return ProcessWire(process, near, errors)


class ProcessWire:
    """The standard streams of a local program."""

    def __init__(self, process: subprocess.Popen[bytes], sock: socket.socket, errors: int) -> None:
        self._process = process
        self._sock = sock
        self._errors = errors
        self._loop = asyncio.get_running_loop()
        self._unsent: list[bytes] = []
        self._sending: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        os.set_blocking(errors, False)

    async def read(self, size: int) -> bytes:
        try:
            return await self._loop.sock_recv(self._sock, size)
        except OSError:
            return b""

    def write(self, data: bytes) -> None:
        self._unsent.append(data)
        if self._sending is None or self._sending.done():
            self._sending = self._loop.create_task(self._send())

    async def _send(self) -> None:
        # A far side that is gone is seen by the reader.
        with contextlib.suppress(OSError):
            while self._unsent:
                data = b"".join(self._unsent)
                self._unsent.clear()
                await self._loop.sock_sendall(self._sock, data)

    async def read_errors(self, size: int) -> bytes:
        while True:
            try:
                return os.read(self._errors, size)
            except BlockingIOError:
                ready = asyncio.Event()
                self._loop.add_reader(self._errors, ready.set)
                try:
                    await ready.wait()
                finally:
                    self._loop.remove_reader(self._errors)

    async def complaint(self) -> str:
        try:
            said = os.read(self._errors, MOST_ERROR_BYTES)
        except (BlockingIOError, OSError):
            said = b""
        lines = said.decode("utf-8", "replace").strip().splitlines()
        return lines[-1].strip() if lines else ""

    async def close(self) -> None:
        # Every caller waits for the same end, and none of them breaks it off.
        if self._closing is None:
            self._closing = self._loop.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        # A read that waits sees the end of the stream; a socket that is only closed would leave it waiting.
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        if self._sending is not None:
            self._sending.cancel()
            await asyncio.wait([self._sending])
        await self._end()
        self._sock.close()
        os.close(self._errors)

    async def _end(self) -> None:
        """Wait for the program, which ends with its input; end it if it does not."""
        if self._process.poll() is not None:
            return
        ended = asyncio.Event()
        handle = os.pidfd_open(self._process.pid)
        self._loop.add_reader(handle, ended.set)
        try:
            for number in (0, signal.SIGTERM, signal.SIGKILL):
                self._process.send_signal(number)
                try:
                    async with asyncio.timeout(END_SECONDS):
                        await ended.wait()
                    break
                except TimeoutError:
                    continue
        finally:
            self._loop.remove_reader(handle)
            os.close(handle)
            self._process.poll()
