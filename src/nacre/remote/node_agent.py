"""The agent on a node of the cluster: an async actor that starts the far side there and carries its bytes.

Standard library only, and nothing of nacre: the class is sent to nodes by its value, so nacre need not be installed
there.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from typing import Any

READ_BYTES = 1024 * 1024
MOST_ERROR_BYTES = 4096


class NodeAgent:
    """Carries the standard streams of programs on its node, by number."""

    def __init__(self) -> None:
        self._programs: dict[int, asyncio.subprocess.Process] = {}
        self._next: dict[int, int] = {}
        """The number of the next piece to be written."""
        self._early: dict[int, dict[int, bytes]] = {}
        """Pieces that came before the ones that belong before them."""

    async def facts(self) -> dict[str, Any]:
        return {"host": socket.gethostname(), "pid": os.getpid(), "cpus": os.cpu_count(), "load": os.getloadavg()[0]}

    async def open(self, number: int, text: str) -> None:
        """Run a text in a `sh` of this node."""
        self._programs[number] = await asyncio.create_subprocess_exec(
            "sh",
            "-c",
            text,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            limit=READ_BYTES,
        )
        self._next[number] = 0
        self._early[number] = {}

    async def read(self, number: int) -> bytes:
        """What the program has written since the last call; b"" at its end."""
        program = self._programs.get(number)
        if program is None or program.stdout is None:
            return b""
        return await program.stdout.read(READ_BYTES)

    async def write(self, number: int, place: int, data: bytes) -> None:
        """Pass a piece on to the program; calls may be carried out in another order than they were made."""
        program = self._programs.get(number)
        if program is None or program.stdin is None:
            return
        early = self._early[number]
        early[place] = data
        while self._next[number] in early:
            program.stdin.write(early.pop(self._next[number]))
            self._next[number] += 1
        with contextlib.suppress(ConnectionError):
            await program.stdin.drain()

    async def complaint(self, number: int) -> bytes:
        """The error output of a program that has ended."""
        program = self._programs.get(number)
        if program is None or program.stderr is None:
            return b""
        with contextlib.suppress(TimeoutError, asyncio.TimeoutError):
            return await asyncio.wait_for(program.stderr.read(MOST_ERROR_BYTES), 0.5)
        return b""

    async def close(self, number: int) -> None:
        """Close the streams of a program; it ends with them."""
        program = self._programs.pop(number, None)
        self._next.pop(number, None)
        self._early.pop(number, None)
        if program is None:
            return
        if program.stdin is not None:
            program.stdin.close()
        try:
            await asyncio.wait_for(program.wait(), 2.0)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                program.kill()
            await program.wait()
