"""What a sandbox allows, as a value: access to files, the network, and what is hidden. Pure."""

from __future__ import annotations

from typing import Literal, NamedTuple

from nacre.network_hosts import Host, hosts_of
from nacre.settings import SandboxSettings

Need = Literal[
    "files", "attributes", "protected", "hidden", "temporary", "processes", "sight", "calls", "network", "hosts"
]
"""One thing that a policy asks of a back end."""

NEEDS: dict[Need, str] = {
    "files": "files outside the writable directories are read-only",
    "attributes": "modes and times of files outside stay as they are",
    "protected": "protected names stay as they are",
    "hidden": "credential files are hidden",
    "temporary": "a private /tmp",
    "processes": "other processes are out of reach",
    "sight": "other processes are out of sight",
    "calls": "dangerous system calls are refused",
    "network": "the network is off",
    "hosts": "only the listed hosts are reached",
}


class SandboxPolicy(NamedTuple):
    """What a command may do."""

    access: Literal["read-only", "workspace-write", "full"]
    network: Literal["on", "off", "hosts"]
    hosts: tuple[Host, ...]
    """The hosts that may be reached, if the network is `hosts`."""
    writable: tuple[str, ...]
    """Directories beside the workspace, as the settings write them."""
    hidden: tuple[str, ...]
    visible: tuple[str, ...]
    protected: tuple[str, ...]
    unix_sockets: bool

    @property
    def needs(self) -> tuple[Need, ...]:
        """What a back end must enforce for this policy to hold."""
        needed: list[Need] = ["hidden", "processes", "sight", "calls"]
        if self.access != "full":
            needed += ["files", "temporary", "attributes"]
        if self.access == "workspace-write":
            needed.append("protected")
        if self.network != "on":
            needed.append("network" if self.network == "off" else "hosts")
        return tuple(needed)

    @property
    def network_text(self) -> str:
        """The network as settings and results spell it."""
        return ",".join(map(str, self.hosts)) if self.network == "hosts" else self.network


def policy_of(settings: SandboxSettings) -> SandboxPolicy:
    """The policy that the settings describe."""
    listed = settings.network not in ("on", "off")
    return SandboxPolicy(
        access=settings.access,
        network="hosts" if listed else "on" if settings.network == "on" else "off",
        hosts=hosts_of(settings.network) if listed else (),
        writable=settings.writable,
        hidden=settings.hidden,
        visible=settings.visible,
        protected=settings.protected,
        unix_sockets=settings.unix_sockets,
    )
