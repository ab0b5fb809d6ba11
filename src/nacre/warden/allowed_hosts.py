"""Which hosts the proxy of a sandbox connects to, by name, port and address."""

from __future__ import annotations

import ipaddress
import socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    HostRule = Sequence[object]
    """A name and a port; no port is the usual ones of the web."""

USUAL_PORTS = (80, 443)
LOOPBACK_NAME = "localhost"


class AllowedHosts:
    """The list of a sandbox."""

    def __init__(self, rules: Sequence[HostRule]) -> None:
        self._rules = [(str(name), port if isinstance(port, int) else None) for name, port in rules]

    def allows(self, host: str, port: int) -> bool:
        """Whether a host is listed, or `*.` and a name that it is below."""
        return any(_matches(name, host) and port in ((own,) if own else USUAL_PORTS) for name, own in self._rules)

    def addresses(self, host: str, port: int) -> list[tuple[int, tuple[object, ...]]]:
        """Where a listed host is reached, of which this machine and private networks are left out.

        A name that another has chosen may lead there. Only an address that is listed itself does, and `localhost`.

        Raises:
            OSError: the name is not known.
        """
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return [
            (family, tuple(address))
            for family, _, _, _, address in found
            if is_public(str(address[0])) or host == LOOPBACK_NAME or self.allows(str(address[0]), port)
        ]


def _matches(name: str, host: str) -> bool:
    return host.endswith(name[1:]) and host != name[2:] if name.startswith("*.") else host == name


def is_public(address: str) -> bool:
    """Whether an address is one of the public network."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    found = found if mapped is None else mapped
    return found.is_global and not found.is_multicast
