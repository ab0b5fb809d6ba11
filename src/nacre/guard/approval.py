"""What follows from a verdict: allow goes on, deny raises, ask goes to the approver.

Without an approver an `ask` is a denial that says so. So is an approver that fails, or that does
not answer in time: a call always comes back, and the guard never fails open.
"""

from __future__ import annotations

import asyncio
import functools
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from nacre.errors import ConfigError, DeniedError
from nacre.guard.prefilter import needs_review
from nacre.guard.verdict import Verdict
from nacre.profile import Profile
from nacre.regular_file import read_regular_text
from nacre.request import By
from nacre.settings import PolicySettings

if TYPE_CHECKING:
    from nacre.guard.interpret.shell_state import ShellState
    from nacre.guard.policy import Policy
    from nacre.guard.rules.rule_file import Rule


class Approver(Protocol):
    """Decides whether a command runs that a rule says to ask about.

    It is cancelled when its time is up: the call's own timeout, at most ANSWER_SECONDS.
    """

    def __call__(self, command: str, verdict: Verdict, /) -> Awaitable[bool]:
        """Return True to approve; another value, an error or no answer is a denial."""


ANSWER_SECONDS = 60.0
# Time for a cancelled approver to clean up; then the call continues without it.
CLEAN_UP_SECONDS = 0.5


class AnswerPendingError(Exception):
    """Raised by an approver whose answer comes with a later call; the call passes it on unchanged."""


def is_guarded(profile: Profile, settings: PolicySettings) -> bool:
    return profile.guard if settings.guard == "contract" else settings.guard == "on"


async def approve(
    command: str,
    profile: Profile,
    settings: PolicySettings,
    environment: Mapping[str, str],
    approver: Approver | None,
    *,
    cwd: str,
    timeout: float | None,
    state: ShellState | None = None,
    by: By = "model",
    find: Callable[[], Approver | None] | None = None,
) -> float:
    """Return if the command may run. The result is the seconds spent waiting for an approval.

    Args:
        timeout: the call's own limit; the wait counts towards it.
        state: what the shell that runs the command has defined.
        by: who has written the command; for a person a denial is a question.
        find: called when a person has to be asked: what asks in the approver's place, if there is something.

    Raises:
        DeniedError: the command may not run.
        ConfigError: the rule file cannot be read, so no command may run.
    """
    names = state.names if state is not None else ()
    if not _needs_every_command(settings) and not needs_review(command, names):
        return 0.0
    verdict = judge(command, policy_of(settings, profile), environment, cwd=cwd, state=state)
    if verdict.decision == "allow":
        return 0.0
    if verdict.decision == "deny" and by != "person":
        raise DeniedError(verdict.message, rule=verdict.rule)
    if find is not None and (found := find()) is not None:
        approver = found
    if approver is None and verdict.decision == "deny":
        raise DeniedError(verdict.message, rule=verdict.rule)
    if approver is None:
        raise DeniedError(verdict.refusal("it needs approval, and no person can be asked here"), rule=verdict.rule)
    if verdict.decision == "deny":
        # What a person is asked is no denial yet; its refusal begins as one.
        verdict = replace(verdict, decision="ask", message=verdict.message.removeprefix(verdict.denial))
    began = time.monotonic()
    seconds = ANSWER_SECONDS if timeout is None else min(timeout, ANSWER_SECONDS)
    if (problem := await _ask(approver, command, verdict, seconds)) is not None:
        raise DeniedError(verdict.refusal(problem), rule=verdict.rule)
    return time.monotonic() - began


async def is_approved(approver: Approver, command: str, verdict: Verdict, *, timeout: float | None) -> bool:
    """Ask about a command that has no denial yet; no answer in time is none.

    Raises:
        DeniedError: the approver failed.
    """
    seconds = ANSWER_SECONDS if timeout is None else min(timeout, ANSWER_SECONDS)
    return await _ask(approver, command, verdict, seconds) is None


async def _ask(approver: Approver, command: str, verdict: Verdict, seconds: float) -> str | None:
    """Ask the approver; return why the command may not run, or None if it may."""

    async def ask() -> bool:
        return await approver(command, verdict)

    # A separate task, so that an approver that ignores its cancellation cannot block the call.
    asking = asyncio.create_task(ask())
    try:
        await asyncio.wait([asking], timeout=seconds)
    finally:
        if not asking.done():
            asking.cancel()
            await asyncio.wait([asking], timeout=CLEAN_UP_SECONDS)
            asking.add_done_callback(_forget)
    if not asking.done() or asking.cancelled():
        return f"it needs approval, and no answer came within {seconds:g} s; nothing was run"
    try:
        approved = asking.result()
    except (DeniedError, AnswerPendingError):
        raise
    except Exception as error:
        # The text of the error is not shown to the model, because it may hold anything.
        reason = f"it needs approval, and asking for it failed with {type(error).__name__}; nothing was run"
        raise DeniedError(verdict.refusal(reason), rule=verdict.rule) from error
    return None if approved is True else "it was not approved"


def _forget(asking: asyncio.Task[bool]) -> None:
    """Retrieve the outcome of an abandoned question, so that asyncio does not log it."""
    if not asking.cancelled():
        asking.exception()


def judge(
    command: str,
    policy: Policy,
    environment: Mapping[str, str],
    *,
    cwd: str,
    state: ShellState | None = None,
) -> Verdict:
    """Judge a command with the directory and environment of its call."""
    # Imported here: the reader and the rules are half of what a short-lived program would import.
    from nacre.guard.review import review

    return review(command, policy, environment=environment, cwd=cwd, home=environment.get("HOME"), state=state)


def _needs_every_command(settings: PolicySettings) -> bool:
    extended = "deny" if settings.guard_profile == "strict" else "allow"
    return settings.rules_file is not None or dict(settings.rules).get("extended", extended) != "allow"


def policy_of(settings: PolicySettings, profile: Profile) -> Policy:
    """Return what calls of a contract are judged by. A rule file is read again after it changes.

    Raises:
        ConfigError: the rule file cannot be read.
    """
    from nacre.guard.policy import Policy

    decisions = (*profile.rules, *settings.rules)
    return Policy(settings.guard_profile, _rules(settings.rules_file), decisions, profile.denial)


def _rules(file: str | None) -> tuple[Rule, ...]:
    if file is None:
        return ()
    path = os.path.expanduser(file)
    try:
        stamp = os.stat(path).st_mtime_ns
    except (OSError, ValueError):
        stamp = 0  # read_regular_text raises with the reason
    try:
        return _rules_of(path, stamp)
    except ConfigError as error:
        raise ConfigError(f"the rule file (setting policy.rules_file): {error}", source=path) from error


@functools.lru_cache(maxsize=8)
def _rules_of(path: str, stamp: int) -> tuple[Rule, ...]:
    from nacre.guard.rules.rule_file import RuleFileError, load_rules

    text = read_regular_text(path)
    try:
        return load_rules(text, path)
    except RuleFileError as error:
        raise ConfigError(str(error), source=path) from error
