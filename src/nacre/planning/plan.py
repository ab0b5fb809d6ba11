"""From a request to a command: every decision made, nothing started, nothing looked up outside the arguments."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from nacre.call_budget import NO_BUDGET
from nacre.command import Command
from nacre.environment.filter import (
    EnvironmentEntryError,
    FilteredEnvironment,
    child_environment,
    with_call_environment,
)
from nacre.errors import InvalidRequestError
from nacre.output.redaction.redactor import Redactor
from nacre.profile import Profile
from nacre.request import ShellRequest
from nacre.settings import EnvironmentSettings, Settings, ShellSettings

# A label recognises a job in a list; the record has the whole command.
LABEL_CHARACTERS = 120


class Plan(NamedTuple):
    """How one command runs, decided in full."""

    command: Command
    redactor: Redactor
    """Knows the values that were taken out of the environment; false when there were none."""
    request: ShellRequest
    shared_env: Mapping[str, str]
    """The environment without the call's own variables: what the calls of a session share."""
    limit: float | None
    """The call's own timeout; the command's is what an approval left of it."""
    hides: bool
    """True if the redactor has anything to hide."""
    logged_command: str
    """The command for the log and for job records, without hidden values."""
    logged_cwd: str
    cwd: str
    """Where the caller is."""
    reviewed: bool = False
    """True if the guard has judged the command alone."""
    cut_by_budget: bool = False
    """True if the limit is the budget's, which is shorter than the timeout."""
    waited: float = 0.0
    """Seconds that the approval took."""
    call: str | None = None
    """The id of the call, where a person was asked about it; else it gets one when it begins."""

    def with_notice(self, notice: str) -> Plan:
        """The plan whose result carries one more notice."""
        return self._replace(request=replace(self.request, notices=(*self.request.notices, notice)))

    def without_side(self) -> Plan:
        """The plan for a backend that has no third stream."""
        lifted = self.request.lifted
        if lifted is None or not lifted.side:
            return self
        request = replace(self.request, lifted=replace(lifted, side=False, producer=-2))
        return self._replace(request=request, command=replace(self.command, script=lifted.plain_script, side=False))

    @property
    def label(self) -> str:
        """The command on one line, cut to a length that a list can show, without hidden values."""
        line = " ".join(self.logged_command.split())
        return line if len(line) <= LABEL_CHARACTERS else f"{line[: LABEL_CHARACTERS - 3]}..."


def plan(request: ShellRequest, profile: Profile, settings: Settings, *, cwd: str, environ: Mapping[str, str]) -> Plan:
    """Decide how the command runs.

    Raises:
        InvalidRequestError: a variable of the call cannot be passed on.
    """
    directory = cwd if request.cwd is None else _resolve(request.cwd, cwd, environ)
    script = request.command if request.script is None else request.script
    grace = settings.execution.grace_seconds
    filtered = is_filtered(profile, settings.environment)
    limit = profile.timeout if request.timeout is None else request.timeout
    budget = settings.budget
    if request.budget is not None:
        budget = budget.narrowed(request.budget)
    cut = False
    if budget.wall_seconds is not None and limit > budget.wall_seconds:
        limit, cut = budget.wall_seconds, True
    # `basic` has the caller's environment and /bin/bash, whatever the settings say.
    shell = ShellSettings() if profile.environment == "inherited" else settings.shell
    quiet = profile.quiets and settings.output.quiet_tools
    shared = _shared(environ, settings.environment, shell, filtered=filtered, quiet=quiet)
    redactor = shared.redactor
    planned = Plan(
        command=Command(
            script=script,
            cwd=directory,
            env=_with_call(shared.env, request.env),
            names_cwd=filtered,
            timeout=limit,
            grace=profile.grace if grace is None else grace,
            streams=profile.streams,
            stages=gives_stages(script),
            side=request.lifted is not None and request.lifted.side,
            shell=shell.path,
            budget=None if budget == NO_BUDGET else budget,
        ),
        redactor=redactor,
        request=request,
        shared_env=shared.env,
        limit=limit,
        hides=bool(redactor),
        logged_command=redactor.redact_text(request.command),
        logged_cwd=redactor.redact_text(directory),
        cwd=cwd,
        cut_by_budget=cut,
    )
    return planned if request.terminal is None else _on_terminal(planned, environ)


def _on_terminal(planned: Plan, environ: Mapping[str, str]) -> Plan:
    # Few commands have one.
    from nacre.planning.terminal_variables import terminal_environment

    request, command = planned.request, planned.command
    env = terminal_environment(command.env, environ, request.env, watched=request.watched)
    return planned._replace(command=replace(command, env=env, streams="merged", terminal=request.terminal))


# What shows a script its own commands, or ours after it.
_SHOWS_COMMANDS = ("DEBUG", "ERR", "BASH_XTRACEFD")


def gives_stages(script: str) -> bool:
    """Whether the stage codes of a script are taken: only one with a pipe can hide a stage, and others pay nothing.

    They are taken by a trap, and by a last line where the script has traps itself.
    """
    if "|" not in script:
        return False
    if "trap" not in script:
        return "BASH_XTRACEFD" not in script
    # Loaded for the few scripts that need it.
    from nacre.bash.command_shape import is_whole

    return not any(word in script for word in _SHOWS_COMMANDS) and is_whole(script)


def _resolve(asked: str, cwd: str, environ: Mapping[str, str]) -> str:
    """The directory that a caller means, as the shell's `cd` reads it: from `cwd`, `~` the home, `..` by name."""
    home = environ.get("HOME")
    if home and (asked == "~" or asked.startswith("~/")):
        asked = home + asked[1:]
    return os.path.normpath(os.path.join(cwd, asked))


def is_filtered(profile: Profile, settings: EnvironmentSettings) -> bool:
    if settings.env_filter == "contract":
        return profile.environment == "filtered"
    return settings.env_filter == "on"


class _Shared(NamedTuple):
    """What every call with the same environment shares."""

    env: Mapping[str, str]
    redactor: Redactor


def _with_call(env: Mapping[str, str], per_call: Mapping[str, str] | None) -> Mapping[str, str]:
    if not per_call:
        return env
    try:
        return with_call_environment(env, per_call)
    except EnvironmentEntryError as error:
        raise InvalidRequestError(f"field 'env': {error}", field="env") from error


# The last environment and what was made of it: most calls of a program have the same one, and the forms of a hidden
# value take milliseconds to prepare.
_last: tuple[Mapping[str, str], EnvironmentSettings, ShellSettings, bool, _Shared] | None = None


def _shared(
    environ: Mapping[str, str],
    settings: EnvironmentSettings,
    shell: ShellSettings,
    *,
    filtered: bool = True,
    quiet: bool = False,
) -> _Shared:
    global _last
    if not filtered:
        return _Shared(with_call_environment(environ, dict(shell.env)) if shell.env else environ, _NOTHING_HIDDEN)
    if _last is not None and _last[:4] == (environ, settings, shell, quiet):
        return _last[4]
    child = shared_environment(environ, settings, shell, quiet=quiet)
    redactor = Redactor(child.hidden) if child.hidden else _NOTHING_HIDDEN
    made = _Shared(child.kept, redactor)
    _last = (environ, settings, shell, quiet, made)
    return made


def shared_environment(
    environ: Mapping[str, str], settings: EnvironmentSettings, shell: ShellSettings, *, quiet: bool = False
) -> FilteredEnvironment:
    """The filtered environment that the settings give to every command, and what was taken out of it."""
    return child_environment(
        environ,
        per_call_env=dict(shell.env),
        allow=settings.env_allow,
        profile=settings.env_profile,
        quiet=quiet,
        unset_defaults=settings.unset_defaults,
        own_venv=_OWN_VENV,
    )


def redactor_for(environ: Mapping[str, str], settings: Settings) -> Redactor:
    """Knows the values that a filtered environment leaves out, for texts that belong to no plan."""
    return _shared(environ, settings.environment, settings.shell).redactor


_NOTHING_HIDDEN = Redactor.empty()
# The environment that nacre itself runs from is not the user's.
_OWN_VENV = sys.prefix if sys.prefix != sys.base_prefix else None
