"""The address of an HTTP server: how it is written, listened on and checked."""

from __future__ import annotations

import ipaddress
import socket

from nacre.errors import ConfigError, InvalidRequestError

# A client that does not even answer TCP keepalives for this long counts as lost.
LEASE_SECONDS = 30
LONGEST_LEASE_SECONDS = 3600


def address_of(text: str) -> tuple[str, int]:
    """Split HOST:PORT; raises InvalidRequestError."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise InvalidRequestError(f"--http must be HOST:PORT, as 127.0.0.1:8000, got {text!r}", field="http")
    return host, int(port)


def is_loopback(address: str) -> bool:
    """True if only this machine can connect to the numeric address."""
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def listen(
    host: str, port: int, *, token: str | None, lease: int = LEASE_SECONDS, option: str = "http"
) -> socket.socket:
    """Return a listening socket; an address that other machines can reach requires a token.

    Args:
        option: the option of the command line that errors name.

    Raises:
        ConfigError: other machines could connect without a token, the address is not available, or the lease is wrong.
    """
    if not 1 <= lease <= LONGEST_LEASE_SECONDS:
        raise ConfigError(f"--lease must be from 1 to {LONGEST_LEASE_SECONDS} seconds, got {lease}", key="lease")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise ConfigError(f"--{option}: {host!r} cannot be found: {error.strerror}", key=option) from error
    if not token and not is_loopback(str(address[0])):
        raise ConfigError(
            f"--{option} {host}: others could connect, so a token is needed: --token, or NACRE_MCP_TOKEN", key="token"
        )
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _set_lease(listener, lease)
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise ConfigError(f"--{option}: {host} port {port} cannot be had: {error.strerror}", key=option) from error
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


def origin_of(listener: socket.socket) -> str:
    """The address as it is typed into a browser, without a path."""
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
