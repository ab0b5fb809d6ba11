"""A uvicorn server that runs inside a verb: a cancellation ends it and every request, and it waits for no client."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn

from nacre.http_server.timing import App, TimedProtocol


async def serve(app: App, listener: socket.socket, *, lifespan: bool) -> None:
    """Serve until cancelled, and then end all requests."""
    config = uvicorn.Config(
        app,
        lifespan="on" if lifespan else "off",
        log_level="critical",
        access_log=False,
        ws="none",
        http=TimedProtocol,
        server_header=False,
        # The end of the server does not wait for clients.
        timeout_graceful_shutdown=0,
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await asyncio.wait([serving])
    except asyncio.CancelledError:
        server.should_exit = True
        await asyncio.wait([serving])
        await server.drain()
        raise
    serving.result()


class _Server(uvicorn.Server):
    async def drain(self) -> None:
        """Wait for cancelled requests, and close all connections."""
        if self.server_state.tasks:
            await asyncio.wait(self.server_state.tasks)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        # A closed transport releases its descriptor in the next iteration of the loop.
        await asyncio.sleep(0)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the command line, which cancels the server."""
        yield
