"""From a request to a command: every decision made, nothing started, nothing looked up outside the arguments."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from nacre.command import Command
from nacre.errors import InvalidRequestError
from nacre.output.redact import Redactor
from nacre.planning.environment import EnvironmentEntryError, FilteredEnvironment, child_environment
from nacre.profile import Profile
from nacre.request import ShellRequest
from nacre.settings import EnvironmentSettings, Settings


@dataclass(frozen=True, slots=True)
class Plan:
    command: Command
    redactor: Redactor
    """Knows the values that were taken out of the environment; false when there were none."""
    request: ShellRequest


def plan(request: ShellRequest, profile: Profile, settings: Settings, *, cwd: str, environ: Mapping[str, str]) -> Plan:
    """Decide how the command runs.

    Raises:
        InvalidRequestError: a variable of the call cannot be passed on.
    """
    directory = cwd if request.cwd is None else os.path.join(cwd, request.cwd)
    script = request.command if request.script is None else request.script
    grace = settings.execution.grace_seconds
    redactor = _NOTHING_HIDDEN
    if not is_filtered(profile, settings.environment):
        env = dict(environ)
    else:
        filtered = _filtered(request, environ, settings.environment)
        env = filtered.kept
        env["PWD"] = directory
        if filtered.hidden:
            redactor = _redactor(tuple(filtered.hidden.items()))
    return Plan(
        Command(
            script=script,
            cwd=directory,
            env=env,
            timeout=profile.timeout if request.timeout is None else request.timeout,
            grace=profile.grace if grace is None else grace,
            streams=profile.streams,
            # Only a script with a pipe can hide a stage, and others should not pay for the look.
            stages="|" in script,
            side=request.lifted is not None and request.lifted.side,
        ),
        redactor,
        request,
    )


def is_filtered(profile: Profile, settings: EnvironmentSettings) -> bool:
    if settings.env_filter == "contract":
        return profile.environment == "filtered"
    return settings.env_filter == "on"


def _filtered(request: ShellRequest, environ: Mapping[str, str], settings: EnvironmentSettings) -> FilteredEnvironment:
    try:
        return child_environment(
            environ,
            per_call_env=request.env,
            allow=settings.env_allow,
            profile=settings.env_profile,
            own_venv=_OWN_VENV,
        )
    except EnvironmentEntryError as error:
        raise InvalidRequestError(f"field 'env': {error}", field="env") from error


_NOTHING_HIDDEN = Redactor.empty()
# The environment that nacre itself runs from is not the user's.
_OWN_VENV = sys.prefix if sys.prefix != sys.base_prefix else None


# Preparing the forms of a value takes milliseconds; an environment rarely changes between calls.
@functools.lru_cache(maxsize=8)
def _redactor(hidden: tuple[tuple[str, tuple[str, ...]], ...]) -> Redactor:
    return Redactor(dict(hidden))
