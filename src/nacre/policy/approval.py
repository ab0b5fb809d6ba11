"""What follows from a verdict: allow goes on, deny raises, ask goes to whoever may answer.

With nobody to ask, an `ask` is a denial that says how to allow the command.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from nacre.errors import ConfigError, DeniedError
from nacre.policy.plain import is_plain
from nacre.policy.verdict import Verdict
from nacre.profile import Profile
from nacre.regular_file import read_regular_text
from nacre.settings import PolicySettings

if TYPE_CHECKING:
    from nacre.policy.review import Policy

Approver = Callable[[str, Verdict], Awaitable[bool]]
"""Given the command and the verdict, whether to run it."""


def is_guarded(profile: Profile, settings: PolicySettings) -> bool:
    return profile.guard if settings.guard == "contract" else settings.guard == "on"


async def approve(
    command: str,
    settings: PolicySettings,
    environment: Mapping[str, str],
    approver: Approver | None,
    *,
    cwd: str,
) -> None:
    """Return when the command may run.

    Raises:
        DeniedError: it may not.
        ConfigError: the rules cannot be read, so nothing may run.
    """
    if settings.rules_file is None and settings.guard_profile == "default" and is_plain(command):
        return
    verdict = judge(command, settings, environment, cwd=cwd)
    if verdict.decision == "allow":
        return
    if verdict.decision == "ask":
        if approver is not None and await approver(command, verdict):
            return
        raise DeniedError(f"{verdict.message} ({_how_to_allow(settings, approver)})", rule=verdict.rule)
    raise DeniedError(verdict.message, rule=verdict.rule)


def judge(command: str, settings: PolicySettings, environment: Mapping[str, str], *, cwd: str) -> Verdict:
    """What the guard says about a command that would run there.

    Raises:
        ConfigError: the rules cannot be read.
    """
    # Loaded when there is something to read: it is half of what a short-lived program would load.
    from nacre.policy.review import review

    return review(command, policy_of(settings), environment=environment, cwd=cwd, home=environment.get("HOME"))


def _how_to_allow(settings: PolicySettings, approver: Approver | None) -> str:
    if approver is not None:
        return "it was not approved"
    return f"it needs approval and nobody can be asked here; to allow it, add a rule to {settings.rules_file}"


def policy_of(settings: PolicySettings) -> Policy:
    """The policy that the settings describe; a rule file is read again when it has changed."""
    from nacre.policy.review import Policy

    if settings.rules_file is None:
        return Policy(settings.guard_profile)
    path = os.path.expanduser(settings.rules_file)
    try:
        stamp = os.stat(path).st_mtime_ns
    except (OSError, ValueError):
        stamp = 0  # reading it says why it cannot be read
    try:
        return _policy(settings.guard_profile, path, stamp)
    except ConfigError as error:
        raise ConfigError(f"the rule file (setting policy.rules_file): {error}", source=path) from error


@functools.lru_cache(maxsize=8)
def _policy(profile: str, path: str, stamp: int) -> Policy:
    from nacre.policy.review import Policy
    from nacre.policy.rule_file import RuleFileError, load_rules

    text = read_regular_text(path)
    try:
        rules = load_rules(text, path)
    except RuleFileError as error:
        raise ConfigError(str(error), source=path) from error
    return Policy("strict" if profile == "strict" else "default", rules)
