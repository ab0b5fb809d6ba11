"""How a place is named: `docker:NAME`, `podman:NAME`, `kubectl:[NAMESPACE/]POD[:CONTAINER]`, `prefix:WORDS`, `ssh://…`."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import Any

from nacre.errors import ConfigError
from nacre.remote.wire import Dialer, PrefixDialer


def docker(name: str, *, program: str = "docker") -> PrefixDialer:
    """A running container."""
    return PrefixDialer([program, "exec", "-i", name], name=f"{program}:{name}")


def kubectl(spec: str) -> PrefixDialer:
    """A running pod: `[NAMESPACE/]POD[:CONTAINER]`."""
    rest, _, container = spec.partition(":")
    namespace, slash, pod = rest.rpartition("/")
    words = ["kubectl", "exec", "-i"]
    words += ["--namespace", namespace] if slash else []
    words += [pod]
    words += ["--container", container] if container else []
    return PrefixDialer([*words, "--"], name=f"kubectl:{spec}")


def prefix(spec: str) -> PrefixDialer:
    """Any words before `sh -c TEXT` that give its standard streams in the place."""
    return PrefixDialer(shlex.split(spec), name=spec)


_KINDS: dict[str, Callable[[str], Dialer]] = {
    "docker": docker,
    "podman": lambda name: docker(name, program="podman"),
    "kubectl": kubectl,
    "prefix": prefix,
}
FORMS = "docker:NAME, podman:NAME, kubectl:[NAMESPACE/]POD[:CONTAINER], prefix:'WORDS…', ssh://[USER@]HOST[:PORT]"


def dialer_named(text: str) -> Dialer:
    """The way to a place as `--on` names it.

    Raises:
        ConfigError: it names no place.
    """
    kind, colon, rest = text.partition(":")
    if kind == "ssh" and rest.startswith("//"):
        from nacre.remote.ssh_wire import ssh_named

        return ssh_named(text)
    if kind not in _KINDS or not colon or not rest.strip():
        raise ConfigError(f"--on {text!r} names no place; it is one of {FORMS}", key="on")
    return _KINDS[kind](rest)


def dialer_of(description: Mapping[str, Any]) -> Dialer:
    """The dialer that another process has described."""
    if description["kind"] == "ray":
        from nacre.remote.ray_wire import RayDialer

        return RayDialer.of(description)
    if description["kind"] == "ssh":
        from nacre.remote.ssh_wire import SshDialer

        return SshDialer.of(description)
    return PrefixDialer(description["prefix"], name=description["name"], joined=description["joined"])
