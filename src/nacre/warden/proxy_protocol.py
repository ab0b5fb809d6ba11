"""What a client asks of the proxy of a sandbox: HTTP CONNECT, plain HTTP, SOCKS5. Sans-IO: bytes in, requests out.

One port serves all three; the first byte tells them apart. Every buffer is bounded, and what is not understood is
refused.
"""

from __future__ import annotations

import re
import socket

MOST_HEAD_BYTES = 65536
_SOCKS5 = 5
_NO_AUTHENTICATION, _NONE_ACCEPTED = 0, 0xFF
_SOCKS_CONNECT = 1
_IPV4, _NAME, _IPV6 = 1, 3, 4
# Replies of SOCKS5.
_DONE, _REFUSED, _UNREACHABLE, _NO_SUCH_COMMAND, _NO_SUCH_ADDRESS = 0, 2, 4, 7, 8
_LINE = re.compile(rb"([A-Z][A-Z0-9_-]{0,31}) (\S+) HTTP/1\.([01])")
_TARGET = re.compile(rb"http://([^/?#\s]*)([^\s]*)", re.IGNORECASE)
_HEADER = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*")
_HOP = (b"host", b"connection", b"proxy-connection", b"proxy-authorization", b"keep-alive", b"te", b"upgrade")


class ProxyError(Exception):
    """A request that is refused, and what the client is answered."""

    def __init__(self, reason: str, answer: bytes) -> None:
        super().__init__(reason)
        self.answer = answer


class ProxyRequest:
    """A connection that a client wants."""

    __slots__ = ("forward", "host", "is_socks", "is_tunnel", "port")

    def __init__(self, host: str, port: int, *, forward: bytes, is_socks: bool, is_tunnel: bool) -> None:
        self.host = host
        self.port = port
        self.forward = forward
        """What goes to the host first."""
        self.is_socks = is_socks
        self.is_tunnel = is_tunnel
        """Whether the client is told of the connection before it speaks."""

    def accepted(self) -> bytes:
        """What the client is answered when the connection is there."""
        if self.is_socks:
            return _socks_reply(_DONE)
        return b"HTTP/1.1 200 Connection established\r\n\r\n" if self.is_tunnel else b""

    def refused(self, reason: str) -> bytes:
        """What the client is answered when it may not be."""
        return _socks_reply(_REFUSED) if self.is_socks else http_answer(b"403 Forbidden", reason)

    def failed(self, reason: str) -> bytes:
        """What the client is answered when the host cannot be reached."""
        return _socks_reply(_UNREACHABLE) if self.is_socks else http_answer(b"502 Bad Gateway", reason)


class ProxyReader:
    """Reads one request from what a client sends."""

    def __init__(self) -> None:
        self._held = b""
        self._greeted = False

    def feed(self, data: bytes) -> tuple[ProxyRequest | None, bytes]:
        """Take bytes; the request when it is whole, and what the client is to be answered at once.

        Raises:
            ProxyError: it is refused, or no request.
        """
        self._held += data
        if len(self._held) > MOST_HEAD_BYTES:
            raise ProxyError("a request is too long", http_answer(b"431 Request Header Fields Too Large", "too long"))
        if not self._held:
            return None, b""
        if self._greeted or self._held[0] == _SOCKS5:
            return self._socks()
        return self._http(), b""

    def _socks(self) -> tuple[ProxyRequest | None, bytes]:
        answer = b""
        held = self._held
        if not self._greeted:
            if len(held) < 2 or len(held) < 2 + held[1]:
                return None, b""
            if _NO_AUTHENTICATION not in held[2 : 2 + held[1]]:
                raise ProxyError("a SOCKS client wants a password", bytes((_SOCKS5, _NONE_ACCEPTED)))
            self._greeted = True
            self._held = held = held[2 + held[1] :]
            answer = bytes((_SOCKS5, _NO_AUTHENTICATION))
        if len(held) < 5:
            return None, answer
        version, command, _, kind = held[:4]
        if version != _SOCKS5 or command != _SOCKS_CONNECT:
            # Neither to listen (BIND) nor datagrams (UDP ASSOCIATE).
            raise ProxyError("SOCKS: only connections by TCP", answer + _socks_reply(_NO_SUCH_COMMAND))
        size = {_IPV4: 4, _IPV6: 16, _NAME: 1 + held[4]}.get(kind)
        if size is None:
            raise ProxyError("SOCKS: an unknown kind of address", answer + _socks_reply(_NO_SUCH_ADDRESS))
        if len(held) < 4 + size + 2:
            return None, answer
        address, port = held[4 : 4 + size], int.from_bytes(held[4 + size : 6 + size], "big")
        if kind == _NAME:
            host = address[1:].decode("latin-1")
        else:
            host = socket.inet_ntop(socket.AF_INET if kind == _IPV4 else socket.AF_INET6, address)
        rest = held[6 + size :]
        return ProxyRequest(_checked(host), port, forward=rest, is_socks=True, is_tunnel=True), answer

    def _http(self) -> ProxyRequest | None:
        head, end, rest = self._held.partition(b"\r\n\r\n")
        if not end:
            return None
        first, *headers = head.split(b"\r\n")
        line = _LINE.fullmatch(first)
        if line is None or not all(_HEADER.fullmatch(header) for header in headers):
            raise ProxyError("not a request of HTTP", http_answer(b"400 Bad Request", "not a request"))
        method, target, version = line.groups()
        if method == b"CONNECT":
            host, port = _authority(target, None)
            return ProxyRequest(host, port, forward=rest, is_socks=False, is_tunnel=True)
        absolute = _TARGET.fullmatch(target)
        if absolute is None:
            raise ProxyError("a request without its host", http_answer(b"400 Bad Request", "the whole URL is needed"))
        host, port = _authority(absolute[1], 80)
        kept = [header for header in headers if header.partition(b":")[0].lower() not in _HOP]
        path = absolute[2] if absolute[2].startswith(b"/") else b"/" + absolute[2]
        # One request on a connection, and its host is the one that was allowed.
        lines = [b"%s %s HTTP/1.%s" % (method, path, version), b"Host: " + absolute[1], *kept, b"Connection: close"]
        forward = b"\r\n".join(lines) + b"\r\n\r\n" + rest
        return ProxyRequest(host, port, forward=forward, is_socks=False, is_tunnel=False)


def _authority(text: bytes, usual: int | None) -> tuple[str, int]:
    """Host and port of `HOST:PORT`; an IPv6 address is in brackets."""
    host, port = text.decode("latin-1"), ""
    if host.startswith("["):
        host, bracket, rest = host[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise ProxyError("a wrong host", http_answer(b"400 Bad Request", "a wrong host"))
        port = rest[1:]
    elif ":" in host:
        host, _, port = host.partition(":")
    if not port and usual is not None:
        return _checked(host), usual
    if not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise ProxyError("a wrong port", http_answer(b"400 Bad Request", "a wrong port"))
    return _checked(host), int(port)


def _checked(host: str) -> str:
    """A host as it is compared: in small letters, without the last dot."""
    host = host.lower().rstrip(".")
    if not host or len(host) > 253 or any(not (one.isalnum() or one in "-_.:") or not one.isascii() for one in host):
        raise ProxyError("a wrong host", http_answer(b"400 Bad Request", "a wrong host"))
    return host


def http_answer(status: bytes, reason: str) -> bytes:
    body = f"nacre's sandbox: {reason}\n".encode("utf-8", "replace")
    head = b"HTTP/1.1 %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n" % (status, len(body))
    return head + b"Connection: close\r\n\r\n" + body


def _socks_reply(code: int) -> bytes:
    return bytes((_SOCKS5, code, 0, _IPV4)) + bytes(6)
