"""Serves the page until it is cancelled."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

from nacre.engine.engine import Engine
from nacre.feed.follower import Follower
from nacre.http_server.address import is_loopback, origin_of
from nacre.http_server.serving import serve
from nacre.web.page_gate import Gate, GatedPage
from nacre.web.page_routes import routes_of
from nacre.web.page_state import PageState, until_one_ends

WILDCARDS = ("0.0.0.0", "::")


async def serve_page(engine: Engine, listener: socket.socket, gate: Gate, ready: Callable[[], None]) -> None:
    """Serve the page of an engine's state directory.

    Args:
        ready: called once programs can be heard and browsers be answered.

    Raises:
        NacreError: the feed cannot be followed.
    """
    async with Follower(engine.state_dir, redactor=engine.redactor) as follower:
        state = PageState(engine, follower)
        page = GatedPage(routes_of(state, gate.page), gate)
        serving = asyncio.create_task(serve(page, listener, lifespan=False))
        ready()
        await until_one_ends(asyncio.create_task(state.follow()), serving)


def address_with_token(listener: socket.socket, token: str) -> str:
    """Return what is typed into a browser; a server on every address is reached by the name of the machine."""
    host, port = listener.getsockname()[:2]
    origin = f"http://{socket.gethostname()}:{port}" if host in WILDCARDS else origin_of(listener)
    return f"{origin}/?token={token}"


def warning_for(listener: socket.socket) -> str | None:
    """Return what a person must know of an address that other machines reach; None for one that they do not."""
    host = str(listener.getsockname()[0])
    if is_loopback(host):
        return None
    return (
        "nothing is encrypted: a reader of the network between a browser and this machine reads the token, and can "
        "run and stop with it what you can; use a tunnel (ssh -L) or a network you trust"
    )
