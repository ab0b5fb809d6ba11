"""Plans a command and judges it, before anything is started; remembers both for commands that come again."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from nacre.engine.call_log import CallLog
from nacre.errors import NacreError
from nacre.feed.call_ids import call_ids
from nacre.guard.approval import Approver, approve, is_approved, is_guarded, judge, policy_of
from nacre.guard.prefilter import needs_review
from nacre.guard.verdict import ALLOWED, Verdict
from nacre.planning.plan import Plan, plan
from nacre.profile import Profile
from nacre.request import By, ShellRequest
from nacre.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.engine.asking import Approved
    from nacre.engine.confining import Confining
    from nacre.engine.wait import WaitPolicy
    from nacre.guard.interpret.shell_state import ShellState

# Commands whose plan is remembered; a plan holds the command's text, little more.
MOST_PLANS = 256
# What is left at least of the limit of a command that was approved in the last moment.
LEAST_SECONDS = 0.01

PlanKey = tuple[object, ...]
"""Every value that a plan depends on: contract, command, timeout, directory, generation of the environment."""


class ProcessEnvironment(NamedTuple):
    """This process's variables at one moment; two of the same generation hold the same variables."""

    values: Mapping[str, str]
    generation: int


# Threads may find a change at the same moment: each gets a number of its own.
_generations = itertools.count(1)
_last = ProcessEnvironment(MappingProxyType({}), 0)


def environment() -> ProcessEnvironment:
    """The environment now; its generation changes when, and only when, a variable does."""
    global _last
    now = dict(os.environ)
    if now != _last.values:
        _last = ProcessEnvironment(MappingProxyType(now), next(_generations))
    return _last


def directory_of(planned: Plan, here: str | None) -> str:
    """Where a command begins: in its own directory, where its shell is, or where the caller is."""
    if planned.request.cwd is not None and not planned.request.stays:
        return planned.command.cwd
    return planned.cwd if here is None else here


class Planner:
    """The plans of one engine, whose settings do not change."""

    def __init__(
        self,
        settings: Settings,
        log: CallLog,
        *,
        environ: Mapping[str, str] | None,
        approver: Approver | None,
        confining: Confining | None = None,
    ) -> None:
        self._settings = settings
        self._log = log
        self._environ = None if environ is None else ProcessEnvironment(environ, 0)
        self._approver = approver
        self.confining = confining
        """What puts commands into a sandbox, if the settings ask for one."""
        self._approved: Approved = set()
        self.known: dict[PlanKey, Plan] = {}
        """Plans of commands that ran before, judged already where no session judges them."""
        self._verdicts: dict[tuple[str, str, str], tuple[Plan, ShellState, Plan]] = {}

    @property
    def environment(self) -> ProcessEnvironment:
        """The variables that commands are planned with."""
        return environment() if self._environ is None else self._environ

    @property
    def decides_alone(self) -> bool:
        """True if a verdict holds for later calls: an approver may answer differently, and a rule file may change."""
        return self._approver is None and self._settings.policy.rules_file is None

    def remember(self, key: PlanKey, planned: Plan) -> None:
        if len(self.known) >= MOST_PLANS:
            self.known.clear()
        self.known[key] = planned

    def plan(self, request: ShellRequest, profile: Profile, *, cwd: str) -> Plan:
        """Decide how the command runs; a session judges it when its turn has come."""
        try:
            if self._settings.minimizer.reports and profile.minimizes and "pytest" in request.command:
                # Loaded here: few ask for reports.
                from nacre.engine.tool_reports import with_report

                request = with_report(request, self.environment.values, self._log.state_dir)
            planned = plan(request, profile, self._settings, cwd=cwd, environ=self.environment.values)
            return planned if self.confining is None else self.confining.confined(planned)
        except NacreError as error:
            self._log.add_refusal(profile.contract, request.command, cwd, error)
            raise

    def unconfined(self, request: ShellRequest, profile: Profile, *, cwd: str) -> Plan:
        """The plan of a command that a person lets run without its sandbox."""
        return plan(request, profile, self._settings, cwd=cwd, environ=self.environment.values)

    async def ask(self, planned: Plan, profile: Profile, verdict: Verdict, *, call: str, timeout: float | None) -> bool:
        """Ask a person about a command; False where no person can be asked.

        Raises:
            DeniedError: asking has failed.
        """
        approver = self._viewers(planned, profile, call) or self._approver
        return approver is not None and await is_approved(approver, planned.request.command, verdict, timeout=timeout)

    def _viewers(self, planned: Plan, profile: Profile, call: str) -> Approver | None:
        """What asks the viewers of a call and the program's own approver, if there are viewers."""
        viewing = self._log.look_for_viewers()
        if viewing is None:
            return None
        from nacre.engine.asking import ViewerApprover

        return ViewerApprover(viewing, call, profile, planned, self._settings.policy, self._approver, self._approved)

    async def review(
        self,
        planned: Plan,
        profile: Profile,
        state: ShellState | None = None,
        *,
        cwd: str | None = None,
        call: str | None = None,
    ) -> Plan:
        """Judge a planned command as it was written: alone, or with what the shell has defined that runs it.

        Args:
            cwd: where the shell is, if not where the caller is.
            call: its id, if the call has begun.

        Raises:
            DeniedError: it may not run.
        """
        command = planned.request.command
        cwd = directory_of(planned, cwd)
        key = (profile.contract, command, cwd)
        known = self._verdicts.get(key) if state is not None else None
        if known is not None and known[0] == planned and known[1] == state:
            return known[2]
        if not is_guarded(profile, self._settings.policy):
            return planned
        asked: str | None = None

        def find() -> Approver | None:
            nonlocal asked
            known = call or call_ids.new()
            found = self._viewers(planned, profile, known)
            asked = None if found is None else known
            return found

        try:
            waited = await approve(
                command,
                profile,
                self._settings.policy,
                planned.command.env,
                self._approver,
                cwd=cwd,
                timeout=planned.limit,
                state=state,
                by=planned.request.by,
                find=find,
            )
        except (NacreError, asyncio.CancelledError) as error:
            self._log.add_failure(profile, planned, error, call=asked or call)
            raise
        reviewed = planned if state is not None else planned._replace(reviewed=True)
        if waited and planned.limit is not None:
            left = max(planned.limit - waited, LEAST_SECONDS)
            reviewed = reviewed._replace(command=replace(planned.command, timeout=left), waited=waited)
        if asked is not None:
            reviewed = reviewed._replace(call=asked)
        if (prologue := self._prologue(command, profile, state, asked=waited > 0, by=planned.request.by)) is not None:
            reviewed = reviewed._replace(command=replace(reviewed.command, prologue=prologue))
        if state is not None and self.decides_alone and not waited:
            if len(self._verdicts) >= MOST_PLANS:
                self._verdicts.clear()
            self._verdicts[key] = (planned, state, reviewed)
        return reviewed

    def watches(self, command: str, profile: Profile) -> bool:
        """True if the guard looks at the command while it runs, which it can only where nacre starts it."""
        return is_guarded(profile, self._settings.policy) and self._prologue(command, profile) is not None

    def judge(self, command: str, profile: Profile, *, cwd: str) -> Verdict:
        """What the guard says about a command; nothing is run."""
        if not is_guarded(profile, self._settings.policy):
            return ALLOWED
        planned = plan(ShellRequest(command=command), profile, self._settings, cwd=cwd, environ=self.environment.values)
        return judge(command, policy_of(self._settings.policy, profile), planned.command.env, cwd=cwd)

    def _prologue(
        self,
        command: str,
        profile: Profile,
        state: ShellState | None = None,
        *,
        asked: bool = False,
        by: By = "model",
    ) -> str | None:
        """The run-time guard, where a recursive rm has a target that only the shell will know."""
        if "rm" not in command and (state is None or not needs_review(command, state.names)):
            return None
        from nacre.guard.runtime_guard import runtime_guard

        policy = policy_of(self._settings.policy, profile)
        # What a person has approved is not refused afterwards.
        if asked and (by == "person" or policy.decision("no_dangerous_rm") == "ask"):
            return None
        return runtime_guard(command, state, policy)


def wait_policy(request: ShellRequest, settings: Settings, most_wait: float | None = None) -> WaitPolicy | None:
    """How long the call waits for a command that may become a job; None waits to the end."""
    jobs, timeout = settings.jobs, request.timeout
    assert timeout is not None
    window = jobs.auto_background_seconds if most_wait is None else min(jobs.auto_background_seconds, most_wait)
    moves = jobs.async_enabled and window > 0
    if jobs.background_before_timeout:
        # A command that may live for a second only is not worth moving.
        window = min(window, timeout - 1.0)
        moves = moves and window > 0
    elif timeout <= window:
        # The caller of a short timeout asked for the end of the command, not for a job.
        moves = False
    if not moves and request.until is None:
        return None
    # Loaded here: commands that are waited for to their end need none of it.
    from nacre.engine.wait import WaitPolicy

    return WaitPolicy(window if moves else None, request.until)
