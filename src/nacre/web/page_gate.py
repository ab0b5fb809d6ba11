"""Admits requests to the page: the token once in the address, then a cookie; only from the page itself.

The page has a path of its own, which is part of no address that other programs see, and the cookie is sent below that
path only: a server on another port of this machine is never given it. Every answer forbids the browser to load
anything foreign, to run inline scripts, and to make HTML of texts.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from collections.abc import Collection
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from nacre.http_server.timing import App, Message, Receive, Scope, Send, with_body_limit

COOKIE = "nacre-page"
API = "api/"
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
NEEDED = "nacre: this page needs its token. Open the whole address that `nacre web` printed.\n"
WRONG = "nacre: the token is wrong. Open the whole address that the running `nacre web` printed.\n"


def new_token() -> str:
    return secrets.token_urlsafe(24)


@dataclass(frozen=True, slots=True)
class Gate:
    """What requests must show."""

    token: str
    hosts: frozenset[str]
    """Names that requests may have in Host, besides numeric addresses."""
    page: str = field(default_factory=lambda: f"/{secrets.token_hex(8)}/")
    """The path of the page."""
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    def login(self, query: str) -> bool:
        """True if the query has the token."""
        given = parse_qs(query).get("token", [""])
        return len(given) == 1 and hmac.compare_digest(given[0].encode(), self.token.encode())

    def refusal(self, method: str, path: str, headers: dict[str, str]) -> tuple[int, str] | None:
        """Return why a request is not admitted; None if it is. The files of the page hold no data and are admitted."""
        host = headers.get("host", "")
        if not is_own_host(host, self.hosts):
            return 421, f"nacre: {host!r} is no name of this server; start it with --allow-host to allow it\n"
        is_data = path.startswith(f"{self.page}{API}")
        if (is_data or method not in ("GET", "HEAD")) and not is_same_origin(headers, host, reads=method == "GET"):
            return 403, "nacre: requests of other pages are refused\n"
        if is_data and not self.has_cookie(headers.get("cookie", "")):
            return 401, NEEDED
        return None

    def has_cookie(self, text: str) -> bool:
        given = [value for name, _, value in (one.strip().partition("=") for one in text.split(";")) if name == COOKIE]
        return len(given) == 1 and hmac.compare_digest(given[0].encode(), self.cookie.encode())


def own_hosts(host: str, more: Collection[str] = ()) -> frozenset[str]:
    """Return the names by which a server on this address may be called."""
    return frozenset(name.lower() for name in ("localhost", host, socket.gethostname(), *more))


def is_own_host(host: str, names: Collection[str]) -> bool:
    """True for a numeric address and for a known name: a foreign name that leads here was made by another page."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    if name in names or name.endswith(".localhost"):
        return True
    try:
        ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return True


def is_same_origin(headers: dict[str, str], host: str, *, reads: bool) -> bool:
    """True if the page itself makes a request: browsers say so, and tell the origin of what changes something."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site not in (("same-origin", "none") if reads else ("same-origin",)):
        return False
    if origin is None:
        return reads
    return origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower())


class GatedPage:
    """The page behind its gate."""

    def __init__(self, app: App, gate: Gate) -> None:
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        method, path = scope["method"], scope["path"]
        refused = self._gate.refusal(method, path, headers)
        if refused is not None:
            await _answer(send, *refused)
        elif path == "/" and method in ("GET", "HEAD"):
            await self._enter(scope["query_string"].decode("latin-1"), send)
        else:
            await self._app(scope, with_body_limit(receive), _with_headers(send))

    async def _enter(self, query: str, send: Send) -> None:
        gate = self._gate
        if not query:
            await _answer(send, 401, NEEDED)
        elif not gate.login(query):
            await _answer(send, 403, WRONG)
        else:
            cookie = f"{COOKIE}={gate.cookie}; Path={gate.page}; HttpOnly; SameSite=Strict"
            await _answer(send, 303, "", {"location": gate.page, "set-cookie": cookie})


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *_encoded(HEADERS)]
        await send(message)

    return sending


async def _answer(send: Send, status: int, text: str, headers: dict[str, str] | None = None) -> None:
    all_headers = {"content-type": "text/plain; charset=utf-8", **HEADERS, **(headers or {})}
    await send({"type": "http.response.start", "status": status, "headers": _encoded(all_headers)})
    await send({"type": "http.response.body", "body": text.encode()})


def _encoded(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
