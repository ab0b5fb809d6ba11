"""The settings of the sandbox: each can be made stricter by a project's file, and looser only by the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from nacre.errors import ConfigError, shown
from nacre.setting_field import setting as _setting


def _ranked(*values: str) -> Callable[[Any, Any], bool]:
    """Whether one of these values, from loose to strict, is at least as strict as another."""
    return lambda wanted, given: values.index(wanted) >= values.index(given)


def _is_narrower(wanted: str, given: str) -> bool:
    """Whether a network reaches no more than another."""
    if given == "on" or wanted == "off" or wanted == given:
        return True
    return given != "off" and wanted != "on" and set(wanted.split(",")) <= set(given.split(","))


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSettings:
    """What commands are confined to (docs/guides/sandbox.md)."""

    mode: Literal["off", "auto", "required"] = _setting(
        "off",
        "confine commands: auto with what this machine has, saying what that lacks; required refuses to run with less",
        variable="NACRE_SANDBOX",
        stricter=_ranked("off", "auto", "required"),
    )
    access: Literal["read-only", "workspace-write", "full"] = _setting(
        "workspace-write",
        "what a confined command may write: a private /tmp only, the workspace too, or everything",
        variable="NACRE_SANDBOX_ACCESS",
        stricter=_ranked("full", "workspace-write", "read-only"),
    )
    network: str = _setting(
        "off",
        "`on`, `off`, or the hosts that a confined command may reach: HOST[:PORT],… (without a port: 80 and 443)",
        variable="NACRE_SANDBOX_NETWORK",
        stricter=_is_narrower,
    )
    writable: tuple[str, ...] = _setting(
        (), "directories beside the workspace that may be written", loosens=True, variable="NACRE_SANDBOX_WRITABLE"
    )
    hidden: tuple[str, ...] = _setting(
        (),
        "files and directories that a confined command cannot read, beside the usual credential files",
        variable="NACRE_SANDBOX_HIDDEN",
        stricter=lambda wanted, given: set(wanted) >= set(given),
    )
    visible: tuple[str, ...] = _setting(
        (), "credential files that are not hidden", loosens=True, variable="NACRE_SANDBOX_VISIBLE"
    )
    protected: tuple[str, ...] = _setting(
        (),
        "further names in writable directories that stay as they are; with a final / directories",
        variable="NACRE_SANDBOX_PROTECTED",
        stricter=lambda wanted, given: set(wanted) >= set(given),
    )
    unix_sockets: bool = _setting(
        default=False,
        doc="whether a confined command may connect to UNIX sockets: to services outside, too",
        loosens=True,
        variable="NACRE_SANDBOX_UNIX_SOCKETS",
    )

    def __post_init__(self) -> None:
        if self.network in ("on", "off"):
            return
        # Loaded where hosts are listed.
        from nacre.network_hosts import hosts_of

        try:
            hosts_of(self.network)
        except ValueError as error:
            problem = f"sandbox.network is {shown(self.network)}; accepted: on, off, HOST[:PORT],…: {error}"
            raise ConfigError(problem, key="sandbox.network") from error
