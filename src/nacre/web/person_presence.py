"""Tells programs that a person is there who can type, as long as a browser shows the page.

A command that asks for a terminal then gets one in the foreground. The page has its events from its follower; what
programs send here as well is read and dropped.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Any

from nacre.feed import directory_of
from nacre.feed.feed_directory import announce, withdraw
from nacre.feed.joining import accept


class PersonPresence:
    """An announcement among the viewers of the feed, made for the first browser and taken back with the last."""

    def __init__(self, state_dir: str) -> None:
        self._directory = directory_of(state_dir)
        self._browsers = 0
        self._sock: socket.socket | None = None
        self._path = ""
        self._joining: set[asyncio.Task[Any]] = set()
        self._programs: set[asyncio.BaseTransport] = set()

    def begin(self) -> None:
        """Count a browser; raises NacreError where the feed's directory cannot be used."""
        if self._sock is None:
            self._sock, self._path = announce(self._directory, person=True)
            asyncio.get_running_loop().add_reader(self._sock, self._accept)
        self._browsers += 1

    def end(self) -> None:
        """Count a browser less."""
        self._browsers -= 1
        if self._browsers or self._sock is None:
            return
        withdraw(self._path)
        asyncio.get_running_loop().remove_reader(self._sock)
        self._sock.close()
        self._sock = None
        for program in list(self._programs):
            program.close()

    def _accept(self) -> None:
        assert self._sock is not None
        accept(self._sock, lambda: _Dropped(self._programs), self._joining)

    async def aclose(self) -> None:
        """Wait until all connections are given back."""
        if self._joining:
            await asyncio.wait(self._joining)
        for program in list(self._programs):
            program.close()
        # The transports close their sockets in the next turn of the loop.
        await asyncio.sleep(0)


class _Dropped(asyncio.Protocol):
    def __init__(self, programs: set[asyncio.BaseTransport]) -> None:
        self._programs = programs

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._programs.add(transport)

    def connection_lost(self, error: Exception | None) -> None:
        self._programs.discard(self._transport)
