"""Serves many clients over streamable HTTP, and refuses all others.

A bearer token is required unless only this machine can connect. Host and Origin are checked, so that a page in a local
browser cannot reach the server by DNS rebinding. The calls of a lost client end: at once if it closed its connection,
and when the kernel detects it if its machine or network is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Collection, Iterator, MutableMapping
from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from nacre.errors import ConfigError, InvalidRequestError
from nacre.mcp.sdk_server import GONE, SESSION_HEADER, connection_session

PATH = "/mcp"
# A client that does not even answer TCP keepalives for this long counts as lost.
LEASE_SECONDS = 30
LONGEST_LEASE_SECONDS = 3600
# The longest time for the headers of a request to arrive, and then for its body. A client sends both at once.
HEADER_SECONDS = 10.0
BODY_SECONDS = 30.0

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def address_of(text: str) -> tuple[str, int]:
    """Split HOST:PORT; raises InvalidRequestError."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise InvalidRequestError(f"--http must be HOST:PORT, as 127.0.0.1:8000, got {text!r}", field="http")
    return host, int(port)


def listen(host: str, port: int, *, token: str | None, lease: int = LEASE_SECONDS) -> socket.socket:
    """Return a listening socket; an address that other machines can reach requires a token.

    Raises:
        ConfigError: other machines could connect without a token, the address is not available, or the lease is wrong.
    """
    if not 1 <= lease <= LONGEST_LEASE_SECONDS:
        raise ConfigError(f"--lease must be from 1 to {LONGEST_LEASE_SECONDS} seconds, got {lease}", key="lease")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise ConfigError(f"--http: {host!r} cannot be found: {error.strerror}", key="http") from error
    if not token and not ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback:
        raise ConfigError(
            f"--http {host}: others could connect, so a token is needed: --token, or NACRE_MCP_TOKEN", key="token"
        )
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _set_lease(listener, lease)
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise ConfigError(f"--http: {host} port {port} cannot be had: {error.strerror}", key="http") from error
    return listener


def _set_lease(listener: socket.socket, seconds: int) -> None:
    """Let the kernel detect lost clients; connections inherit these options."""
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    # Not every system has all of them; then the default of the system applies.
    for name, value in (
        ("TCP_KEEPIDLE", max(1, seconds // 3)),
        ("TCP_KEEPINTVL", max(1, seconds // 6)),
        ("TCP_KEEPCNT", 4),
        ("TCP_USER_TIMEOUT", seconds * 1000),
    ):
        if hasattr(socket, name):
            listener.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def url_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{PATH}"


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
    config = uvicorn.Config(
        Gate(Attendance(app, on_end), token),
        lifespan="on",
        log_level="critical",
        access_log=False,
        ws="none",
        http=_Protocol,
        server_header=False,
        # The end of the server does not wait for clients.
        timeout_graceful_shutdown=0,
    )
    web = _Web(config)
    serving = asyncio.create_task(web.serve(sockets=[listener]))
    try:
        await asyncio.wait([serving])
    except asyncio.CancelledError:
        web.should_exit = True
        await asyncio.wait([serving])
        await web.drain()
        raise
    serving.result()


class _Web(uvicorn.Server):
    async def drain(self) -> None:
        """Wait for cancelled calls, and close all connections."""
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
            await self._app(scope, receive if scope["type"] != "http" else _timely(receive), answer)
        finally:
            gone.set()
            # A refused DELETE (wrong origin, unknown session) ends no session.
            if scope.get("method") == "DELETE" and 200 <= status < 300:
                for name, value in scope["headers"]:
                    if name == SESSION_HEADER.encode():
                        await self._on_end(connection_session(value.decode("latin-1")))


def _timely(receive: Receive) -> Receive:
    """Limit the time for the body of a request; a slower client counts as gone."""
    end = asyncio.get_running_loop().time() + BODY_SECONDS
    whole = False

    async def limited() -> MutableMapping[str, Any]:
        nonlocal whole
        if whole:
            return await receive()
        try:
            async with asyncio.timeout_at(end):
                message = await receive()
        except TimeoutError:
            whole = True
            return {"type": "http.disconnect"}
        whole = not message.get("more_body", False)
        return message

    return limited


class _Protocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """HTTP with a time limit for the headers of a request.

    The same limit applies to bytes that follow an answer which did not read the body.
    """

    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_expecting()
        elif self._limit is None:
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_expecting()
        super().connection_lost(exc)

    def _expect(self) -> None:
        self._limit = asyncio.get_running_loop().call_later(HEADER_SECONDS, self.transport.abort)

    def _stop_expecting(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None
