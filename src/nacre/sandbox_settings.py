"""The settings of the sandbox: each can be made stricter by a project's file, and looser only by the user."""

from typing import Literal, NamedTuple

from nacre.errors import ConfigError, shown


class SandboxSettings(NamedTuple):
    """What commands are confined to (docs/guides/sandbox.md)."""

    mode: Literal["off", "auto", "required"] = "off"
    access: Literal["read-only", "workspace-write", "full"] = "workspace-write"
    network: str = "off"
    writable: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    visible: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    unix_sockets: bool = False

    def check(self) -> None:
        """Raise ConfigError for hosts that cannot be understood."""
        if self.network in ("on", "off"):
            return
        # Loaded where hosts are listed.
        from nacre.network_hosts import hosts_of

        try:
            hosts_of(self.network)
        except ValueError as error:
            problem = f"sandbox.network is {shown(self.network)}; accepted: on, off, HOST[:PORT],…: {error}"
            raise ConfigError(problem, key="sandbox.network") from error
