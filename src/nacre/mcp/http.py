"""Serves many clients over streamable HTTP, and refuses all others.

A bearer token is required unless only this machine can connect. Host and Origin are checked, so that a page in a local
browser cannot reach the server by DNS rebinding. The calls of a lost client end: at once if it closed its connection,
and when the kernel detects it if its machine or network is gone.
"""

from __future__ import annotations

import asyncio
import hmac
import socket
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings

from nacre.http_server.address import origin_of
from nacre.http_server.serving import serve
from nacre.http_server.timing import App, Receive, Scope, Send, with_body_limit
from nacre.mcp.sdk_server import GONE, SESSION_HEADER, connection_session

PATH = "/mcp"


def url_of(listener: socket.socket) -> str:
    return origin_of(listener) + PATH


def guard_of(host: str, more: Collection[str]) -> TransportSecuritySettings:
    """Return the host names and origins that requests may have."""
    names = dict.fromkeys(["127.0.0.1", "localhost", "::1", host, socket.gethostname(), *more])
    spelled = [f"[{name}]" if ":" in name else name for name in names]
    return TransportSecuritySettings(
        allowed_hosts=[pattern for name in spelled for pattern in (name, f"{name}:*")],
        allowed_origins=[
            f"{scheme}://{pattern}"
            for scheme in ("http", "https")
            for name in spelled
            for pattern in (name, f"{name}:*")
        ],
    )


async def serve_http(
    server: Server[None],
    listener: socket.socket,
    *,
    host: str,
    token: str | None = None,
    hosts: Collection[str] = (),
    on_end: Callable[[str], Awaitable[None]],
) -> None:
    """Serve until cancelled, and then end all calls. `on_end` is called with each session that a client ends."""
    app = server.streamable_http_app(streamable_http_path=PATH, transport_security=guard_of(host, hosts))
    await serve(Gate(Attendance(app, on_end), token), listener, lifespan=True)


class Gate:
    """Admits requests with the token."""

    def __init__(self, app: App, token: str | None) -> None:
        self._app = app
        self._token = token.encode() if token else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._token is None or scope["type"] == "lifespan" or _is_welcome(scope, self._token):
            await self._app(scope, receive, send)
            return
        await send(
            {
                "type": "http.response.start",
                "status": 401,
                "headers": [(b"www-authenticate", b'Bearer realm="nacre"'), (b"content-type", b"text/plain")],
            }
        )
        await send({"type": "http.response.body", "body": b"a bearer token is required\n"})


def _is_welcome(scope: Scope, token: bytes) -> bool:
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    scheme, _, credentials = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
    return scheme.lower() == b"bearer" and hmac.compare_digest(credentials, token)


class Attendance:
    """Tracks for each request whether its client can still read the answer."""

    def __init__(self, app: App, on_end: Callable[[str], Awaitable[None]]) -> None:
        self._app = app
        self._on_end = on_end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gone = scope[GONE] = asyncio.Event()
        status = 0

        async def answer(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive if scope["type"] != "http" else with_body_limit(receive), answer)
        finally:
            gone.set()
            # A refused DELETE (wrong origin, unknown session) ends no session.
            if scope.get("method") == "DELETE" and 200 <= status < 300:
                for name, value in scope["headers"]:
                    if name == SESSION_HEADER.encode():
                        await self._on_end(connection_session(value.decode("latin-1")))
