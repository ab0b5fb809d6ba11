"""A program of a place that runs on while its caller writes to it and reads from it.

Its input is a fifo in the place that stays open; a step of the place writes each piece into it, in order.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import shlex
from collections.abc import AsyncIterator, Mapping

from nacre.adapters import place_files
from nacre.adapters.place_ending import exit_code_of
from nacre.adapters.program import program_profile, run_script
from nacre.engine.observers import Observers
from nacre.remote.remote_backend import RemoteBackend
from nacre.result import ShellResult
from nacre.settings import MIB

# What is told of it at its end; the caller has read all of it by then.
PROFILE = program_profile("live", limit_bytes=MIB)
# As of a program that SIGTERM has ended.
ENDED = 128 + 15


class LiveProgram:
    """Started by `start`, ended by itself or by `end`."""

    def __init__(self, place: RemoteBackend, env: Mapping[str, str], cwd: str, user: str | None) -> None:
        self._place = place
        self._env = env
        self._cwd = cwd
        self._user = user
        self._fifo = os.path.join(cwd, f".nacre-input-{os.urandom(8).hex()}")
        self._pieces: dict[int, asyncio.Queue[bytes | None]] = {1: asyncio.Queue(), 2: asyncio.Queue()}
        self._writing = asyncio.Lock()
        self._run: asyncio.Task[ShellResult] | None = None

    async def start(self, argv: list[str], *, home: str | None = None) -> None:
        """Start the program; a refusal is told by `wait`."""
        fifo = shlex.quote(self._fifo)
        await place_files.step(self._place, f"mkfifo -m 600 {fifo}", user=self._user)
        # Open for both, so that the open does not wait and the input has no end.
        script = f"exec 0<>{fifo}; {place_files.as_user(self._user, argv, home=home)}"
        self._run = asyncio.create_task(
            run_script(
                shlex.join(argv),
                PROFILE,
                script=script,
                cwd=self._cwd,
                env=self._env,
                backend=self._place,
                observers=Observers(passthrough=lambda stream, data: self._pieces[stream].put_nowait(bytes(data))),
            )
        )
        self._run.add_done_callback(self._over)

    def _over(self, run: asyncio.Task[ShellResult]) -> None:
        for pieces in self._pieces.values():
            pieces.put_nowait(None)
        if not run.cancelled():
            # `wait` raises it; a program that is not waited for must not warn.
            run.exception()

    @property
    def ended(self) -> bool:
        return self._run is not None and self._run.done()

    async def output(self, stream: int) -> AsyncIterator[bytes]:
        """What the program writes to stream 1 or 2, as it comes."""
        while (piece := await self._pieces[stream].get()) is not None:
            yield piece

    async def write(self, data: bytes) -> None:
        """Write to its input; returns when the program, or the fifo, has taken all of it."""
        async with self._writing:
            for begin in range(0, len(data), place_files.CHUNK_BYTES):
                text = base64.b64encode(data[begin : begin + place_files.CHUNK_BYTES]).decode()
                script = f"printf %s {text} | base64 -d >{shlex.quote(self._fifo)}"
                await place_files.step(self._place, script, user=self._user)

    async def wait(self) -> int:
        """Wait for its end and return the exit code."""
        assert self._run is not None
        await asyncio.wait([self._run])
        return ENDED if self._run.cancelled() else exit_code_of(self._run.result())

    async def end(self) -> None:
        """End it with everything it started."""
        if self._run is not None:
            self._run.cancel()
            await asyncio.wait([self._run])
        with contextlib.suppress(place_files.PlaceFileError):
            # The place may be gone, and the fifo with it.
            await place_files.step(self._place, f"rm -f -- {shlex.quote(self._fifo)}")
