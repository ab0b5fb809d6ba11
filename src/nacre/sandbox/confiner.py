"""From settings to what a command carries along: the back end is found, the place is looked at, the words are made."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from nacre.command import SandboxSpec
from nacre.errors import StartError
from nacre.sandbox.bubblewrap import words_of
from nacre.sandbox.private_directory import PrivateDirectory, refusals_of, register_of
from nacre.sandbox.probing import Found, probe
from nacre.sandbox.repositories import Repositories, find_repositories
from nacre.sandbox.sandbox_policy import NEEDS, SandboxPolicy, policy_of
from nacre.sandbox.surroundings import NO_REPOSITORIES, Surroundings, look_around, on_overlay, writable_roots
from nacre.sandbox.syscall_filter import AF_INET, AF_INET6, AF_NETLINK, filter_program
from nacre.settings import SandboxSettings
from nacre.warden.placeholders import listed

UNCONFINED = "sandbox: none, commands are not confined"


class Confiner:
    """Makes the sandboxes of one engine."""

    def __init__(self, settings: SandboxSettings, state_dir: str, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self._state_dir = state_dir
        self._environ = environ
        self._policy = policy_of(settings)
        self._private: dict[str, PrivateDirectory] = {}
        """The directory that is /tmp in a session's sandbox."""
        self._known: dict[tuple[object, ...], SandboxSpec] = {}
        self._repositories: dict[str, Repositories] = {}
        """The repositories of a workspace, looked for once: what a command makes it may also remove."""

    @property
    def found(self) -> Found:
        return probe(self._environ.get("PATH", os.defpath))

    def spec(self, workspace: str, session: str, *, overlay: str | None = None) -> SandboxSpec:
        """The sandbox for a command of a session.

        Args:
            workspace: the directory that the caller works in, which no command can change.
            overlay: the top of the overlay that the command runs on, if it is a try.

        Raises:
            StartError: there must be one, and it cannot be had.
        """
        repositories = self._repositories_of(workspace)
        stamps = (_stamp(workspace), _stamp(os.path.join(workspace, ".git")))
        key = (workspace, session, overlay, repositories, *stamps)
        known = self._known.get(key)
        if known is None:
            known = self._make(workspace, session, repositories, overlay)
            if len(self._known) >= 64:
                self._known.clear()
            self._known[key] = known
        return known

    def _repositories_of(self, workspace: str) -> Repositories:
        """The repositories whose hooks and configuration are protected."""
        known = self._repositories.get(workspace)
        if known is not None:
            return known
        if "protected" not in self._policy.needs or "protected" not in self.found.enforces:
            return NO_REPOSITORIES
        try:
            roots = writable_roots(self._policy, workspace, self._environ.get("HOME"))
        except OSError:
            return NO_REPOSITORIES  # refused when the sandbox is made
        return self._repositories.setdefault(workspace, find_repositories(roots))

    def _make(self, workspace: str, session: str, repositories: Repositories, overlay: str | None) -> SandboxSpec:
        found, policy = self.found, self._policy
        everything = overlay is not None and policy.access == "full"
        if everything:
            # All but the overlay is read-only in a try, and nothing in it is protected.
            policy = policy._replace(access="read-only")
        if found.backend == "none":
            self._missing(found, policy, ())
            return self.none()
        try:
            around = look_around(
                policy,
                workspace,
                self._environ,
                temporary=self._temporary(session),
                state_dir=self._state_dir,
                held=_Held(),
                repositories=repositories,
            )
        except OSError as error:
            reason = f"{error.filename or '/tmp'}: {error.strerror}"
            raise StartError(f"nothing was run: the sandbox could not be made: {reason}") from error
        missing = self._missing(found, policy, around.problems)
        if repositories.unseen:
            missing = (*missing, repositories.unseen)
        if overlay is not None:
            around = on_overlay(around, overlay, everything=everything)
        message = _message(found, policy, around)
        return SandboxSpec(message, _facts(found, policy, (*around.writable, *around.granted), missing))

    def _missing(self, found: Found, policy: SandboxPolicy, problems: tuple[str, ...]) -> tuple[str, ...]:
        """What the policy asks for and the back end does not enforce; refused where all of it must hold."""
        missing = (*(NEEDS[need] for need in policy.needs if need not in found.enforces), *problems)
        if missing and self._settings.mode == "required":
            reasons = f" ({'; '.join(found.reasons)})" if found.reasons else ""
            raise _refused(f"{_name(found)} does not enforce: {'; '.join(missing)}{reasons}")
        return missing

    def none(self) -> SandboxSpec:
        """What commands have where nothing confines them: facts that say so."""
        missing = tuple(NEEDS[need] for need in self._policy.needs)
        return SandboxSpec({}, _facts(Found("none", None), self._policy, (), missing))

    def _temporary(self, session: str) -> str:
        if session not in self._private:
            self._private[session] = PrivateDirectory()
        return self._private[session].path

    def line(self, spec: SandboxSpec) -> str:
        """One line about the sandbox for the reader of a session's first result."""
        facts = spec.facts
        if facts["backend"] == "none":
            return f"{UNCONFINED}: {'; '.join(self.found.reasons)}"
        private = "a private /tmp" if facts["backend"] == "bubblewrap" else "TMPDIR"
        written = f" ({', '.join(facts['writable'])} and {private})" if facts["access"] == "workspace-write" else ""
        lacks = f"; it does not enforce: {'; '.join(facts['missing'])}" if facts["missing"] else ""
        return f"sandbox: {_name(self.found)}, access {facts['access']}{written}, network {facts['network']}{lacks}"

    def forget(self, session: str) -> None:
        """Give back what a session held."""
        private = self._private.pop(session, None)
        if private is not None:
            private.close()
        self._known.clear()

    def close(self) -> None:
        for session in list(self._private):
            self.forget(session)


def _refused(reason: str) -> StartError:
    return StartError(f"nothing was run: a sandbox is required and cannot be had: {reason}")


def _name(found: Found) -> str:
    return found.backend if found.version is None else f"{found.backend} {found.version}"


def _stamp(path: str) -> object:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino


def _facts(
    found: Found, policy: SandboxPolicy, writable: tuple[str, ...], missing: tuple[str, ...]
) -> Mapping[str, Any]:
    return {
        "backend": found.backend,
        "version": found.version,
        "access": policy.access,
        # Without a network namespace there is no proxy; the network is off then, and `missing` says what was asked for.
        "network": "off" if found.backend == "landlock" and policy.network == "hosts" else policy.network_text,
        "writable": list(writable),
        "missing": list(missing),
    }


def _landlock_message(policy: SandboxPolicy, around: Surroundings, program: bytes) -> Mapping[str, Any]:
    rules = {
        "confines": policy.access != "full",
        "writable": [*around.writable, around.temporary],
        "network": policy.network == "on",
    }
    return {"landlock": rules, "filter": program.decode("latin-1")}


class _Held:
    """The placeholders that other sandboxes have made."""

    def __init__(self) -> None:
        self._listed: dict[str, list[str]] = {}

    def __contains__(self, path: object) -> bool:
        directory = os.path.dirname(str(path))
        if directory not in self._listed:
            self._listed[directory] = listed(register_of(directory))
        return path in self._listed[directory]


def _placeholders(around: Surroundings) -> list[list[object]]:
    """What is missing and must be there, by the directory that it is missing in."""
    places = dict.fromkeys(map(os.path.dirname, (*around.placeholders, *around.empty_files)))
    return [
        [
            register_of(place),
            [path for path in around.placeholders if os.path.dirname(path) == place],
            [path for path in around.empty_files if os.path.dirname(path) == place],
        ]
        for place in places
    ]


def _message(found: Found, policy: SandboxPolicy, around: Surroundings) -> Mapping[str, Any]:
    # Without a network namespace there is no loopback of the sandbox's own either.
    inside = (AF_INET, AF_INET6, AF_NETLINK) if found.program is not None else (AF_NETLINK,)
    families = None if policy.network == "on" else inside
    program = (
        b""
        if found.machine is None
        else filter_program(found.machine, families=families, unix_sockets=policy.unix_sockets)
    )
    if found.program is None:
        return _landlock_message(policy, around, program)
    message: dict[str, Any] = {
        "words": words_of(found.program, policy, around, user_namespace=found.user_namespace),
        "filter": program.decode("latin-1"),
    }
    if policy.network == "hosts":
        message["hosts"] = [[host.name, host.port] for host in policy.hosts]
        message["refusals"] = refusals_of(around.temporary)
    if policy.access != "full":
        message["temporary"] = around.temporary
    if placeholders := _placeholders(around):
        message["placeholders"] = placeholders
    return message
