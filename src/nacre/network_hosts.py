"""The hosts that a sandbox may reach: `HOST[:PORT]`, separated by commas. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

# The ports of a host that is listed without one.
USUAL_PORTS = (80, 443)
_NAME = re.compile(r"(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
_MOST_CHARACTERS = 253


class Host(NamedTuple):
    """A host, or all below one (`*.example.org`), and a port; None is the usual ports of the web."""

    name: str
    port: int | None = None

    def __str__(self) -> str:
        name = f"[{self.name}]" if ":" in self.name else self.name
        return name if self.port is None else f"{name}:{self.port}"


def hosts_of(text: str) -> tuple[Host, ...]:
    """Read a list of hosts.

    Raises:
        ValueError: an entry is no host; the message names it.
    """
    entries = [entry.strip() for entry in text.split(",") if entry.strip()]
    if not entries:
        raise ValueError("it names no host")
    return tuple(_host_of(entry) for entry in entries)


def _host_of(entry: str) -> Host:
    if entry.startswith("["):
        name, bracket, rest = entry[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise ValueError(f"{entry!r} is not HOST or HOST:PORT")
        return Host(_address(name, entry), _port(rest[1:], entry) if rest else None)
    name, colon, port = entry.partition(":")
    name = name.lower().rstrip(".")
    if not _NAME.fullmatch(name) or len(name) > _MOST_CHARACTERS:
        raise ValueError(f"{entry!r} is not HOST or HOST:PORT")
    return Host(name, _port(port, entry) if colon else None)


def _address(name: str, entry: str) -> str:
    import ipaddress

    try:
        return str(ipaddress.IPv6Address(name))
    except ValueError:
        raise ValueError(f"{entry!r} is no IPv6 address in brackets") from None


def _port(text: str, entry: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 65536:
        raise ValueError(f"the port of {entry!r} is not 1 to 65535")
    return int(text)
