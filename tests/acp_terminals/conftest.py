"""Both sides of the protocol, each on the SDK's own connection, with real streams between them."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from acp.core import AgentSideConnection, ClientSideConnection

from nacre.acp import ClientTerminals
from nacre.tool import Tool

SESSION = "session-1"
PATIENCE_SECONDS = 30.0


class NoAgent:
    """An agent of which nothing is asked here."""


class Wire:
    """The agent's end of a connection to a client."""

    def __init__(self, agent_side: AgentSideConnection, work: Path, cut: Callable[[], None]) -> None:
        self.agent_side = agent_side
        self.work = work
        self.cut = cut
        """Ends the connection, as when the client dies."""

    @property
    def terminals(self) -> ClientTerminals:
        return ClientTerminals(self.agent_side, SESSION)

    def tool(self, **options: Any) -> Tool:
        return Tool("workspace", cwd=self.work, terminal=self.terminals, **options)


@contextlib.asynccontextmanager
async def connected(client: Any, work: Path) -> AsyncIterator[Wire]:
    here, there = socket.socketpair()
    agent_reader, agent_writer = await asyncio.open_connection(sock=here)
    client_reader, client_writer = await asyncio.open_connection(sock=there)
    agent_side = AgentSideConnection(NoAgent(), agent_writer, agent_reader)
    client_side = ClientSideConnection(client, client_writer, client_reader)
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            yield Wire(agent_side, work, client_writer.close)
    finally:
        # A connection that the test has cut says so again when it is closed.
        for side in (agent_side, client_side):
            with contextlib.suppress(ConnectionError):
                await side.close()
        for writer in (agent_writer, client_writer):
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()


@pytest.fixture
def work(tmp_path: Path) -> Path:
    path = tmp_path / "work"
    path.mkdir()
    return path
