"""Puts planned commands into the sandbox that the settings ask for, and explains their failures there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

from nacre.command import SandboxSpec
from nacre.config import working_directory
from nacre.errors import StartError
from nacre.planning.plan import Plan
from nacre.request import Ground
from nacre.result import ShellResult
from nacre.sandbox.confiner import UNCONFINED, Confiner
from nacre.sandbox.denial_explanation import explain
from nacre.settings import SandboxSettings
from nacre.warden.protocol import PROXY_PORT
from nacre.warden.refusals import refused_since, words_about

# The session of commands that have none.
STATELESS = "run"
# How much of an output is searched for the sandbox's doing: the last error is what failed the command.
_SEARCHED_CHARACTERS = 8192
_HTTP_VARIABLES = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy")
ELSEWHERE = "commands run where the program says, and nacre confines none there"


class Confining:
    """The sandboxes of one engine."""

    def __init__(
        self, settings: SandboxSettings, state_dir: str, environ: Mapping[str, str] | None, *, elsewhere: bool
    ) -> None:
        """With `elsewhere`, commands run in a place of the program's own."""
        self.confiner = Confiner(settings, state_dir, dict(os.environ) if environ is None else environ)
        self._elsewhere = elsewhere
        self._required = settings.mode == "required"
        self._told: set[str] = set()

    def confined(self, planned: Plan) -> Plan:
        """The plan of a command in its sandbox.

        Raises:
            StartError: the sandbox must be had and cannot.
        """
        if self._elsewhere:
            if self._required:
                raise StartError(f"nothing was run: a sandbox is required and cannot be had: {ELSEWHERE}")
            return planned._replace(command=replace(planned.command, sandbox=self.confiner.none()))
        return self._within(planned, overlay=None)

    def on_overlay(self, planned: Plan, root: str) -> Plan:
        """The plan of a try in its sandbox: on the overlay of `root` nothing more can be written than in the sandbox.

        Raises:
            StartError: the sandbox must be had and cannot.
        """
        return planned if planned.command.sandbox is None else self._within(planned, overlay=root)

    def _within(self, planned: Plan, *, overlay: str | None) -> Plan:
        ground = planned.request.ground or Ground(working_directory(), STATELESS)
        spec = self.confiner.spec(ground.directory, ground.session, overlay=overlay)
        command = replace(planned.command, sandbox=spec, env=_inside(planned.command.env, spec))
        shared = _inside(planned.shared_env, spec)
        return planned._replace(command=command, shared_env=shared)

    def showing(self, planned: Plan, directory: str) -> Plan:
        """The plan of a command that sees one more directory, which a private /tmp would hide."""
        spec = planned.command.sandbox
        if spec is None or "words" not in spec.message:
            return planned
        words = [*spec.message["words"], "--bind", directory, directory]
        spec = spec._replace(message={**spec.message, "words": words})
        return planned._replace(command=replace(planned.command, sandbox=spec))

    def explained(self, planned: Plan, result: ShellResult) -> ShellResult:
        """The result with its sandbox and what that may have to do with a failure; once in a session a line on it."""
        spec = planned.command.sandbox
        if spec is None:
            return result
        notices = (*result.notices, *self.introduction(planned))
        if "refusals" in spec.message:
            refused = words_about(refused_since(spec.message["refusals"], result.started_at))
            notices = (*notices, refused) if refused else notices
        reason = self.reason(result, spec)
        if reason is not None:
            notices = (*notices, reason)
        return replace(result, sandbox=spec.facts, notices=notices)

    def introduction(self, planned: Plan) -> tuple[str, ...]:
        """The line about its sandbox, if no result of the session has had it."""
        spec = planned.command.sandbox
        session = STATELESS if planned.request.ground is None else planned.request.ground.session
        if spec is None or session in self._told:
            return ()
        self._told.add(session)
        return (f"{UNCONFINED}: {ELSEWHERE}" if self._elsewhere else self.confiner.line(spec),)

    def reason(self, result: ShellResult, spec: SandboxSpec) -> str | None:
        """What the sandbox may have to do with a failure, if anything points to it."""
        if result.ok or not spec.message:
            return None
        tails = (one.text[-_SEARCHED_CHARACTERS:] for one in (result.output, result.stderr) if one is not None)
        return explain("\n".join(tails), spec.facts)

    def forget(self, session: str) -> None:
        """Give back what a session held."""
        self._told.discard(session)
        self.confiner.forget(session)

    def close(self) -> None:
        self._told.clear()
        self.confiner.close()


def _inside(env: Mapping[str, str], spec: SandboxSpec) -> Mapping[str, str]:
    """The environment of a command in its sandbox: where temporary files can be written, and the way out."""
    changed = {}
    if "temporary" in spec.message and env.get("TMPDIR", "/tmp") != "/tmp":
        changed["TMPDIR"] = "/tmp"
    if "landlock" in spec.message:
        changed["TMPDIR"] = spec.message["landlock"]["writable"][-1]
    if "hosts" in spec.message:
        changed |= dict.fromkeys(_HTTP_VARIABLES, f"http://127.0.0.1:{PROXY_PORT}")
        changed |= dict.fromkeys(("ALL_PROXY", "all_proxy"), f"socks5h://127.0.0.1:{PROXY_PORT}")
        changed |= dict.fromkeys(("NO_PROXY", "no_proxy"), "localhost,127.0.0.1,::1")
    return {**env, **changed} if changed else env
