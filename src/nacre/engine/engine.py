"""The engine: plan, review, start, supervise, summarise. It knows no contract, only a contract's profile.

Linear: arguments down, return values up. A ShellResult is returned exactly when a process was started; before that,
an exception. Whatever happens after the plan is written to the audit log, once.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nacre import config
from nacre.artifacts.store import ArtifactStore
from nacre.audit import AuditLog
from nacre.backend import AtOnce, Backend, Begun, Ending, LocalBackend
from nacre.backends.contained import ContainedBackend
from nacre.backends.inline_wait import may_linger
from nacre.engine.capture import Capture, Passthrough, is_cut
from nacre.engine.hidden_failure import hidden_failure
from nacre.engine.log_entry import entry_of, failure_of, hide_in, measures
from nacre.engine.run import Run
from nacre.engine.summary import notices_of, outcome_of, producers_ending, redacted_survivors
from nacre.environment.process_env import environment
from nacre.errors import (
    ArtifactError,
    BackendUnavailableError,
    NacreError,
)
from nacre.guard.approval import Approver, approve, is_guarded, judge
from nacre.guard.prefilter import needs_review
from nacre.guard.verdict import Verdict
from nacre.output.captured import EVERYTHING, Captured, Selection
from nacre.output.redaction.redactor import Redactor
from nacre.planning.plan import Plan, plan, redactor_for
from nacre.profile import Profile
from nacre.request import ShellRequest, check_call
from nacre.result import Exited, Output, ShellResult, TimedOut
from nacre.settings import Settings
from nacre.warden_client.pool import unsupported_reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.command import Command
    from nacre.engine.live import LiveTail
    from nacre.guard.interpret.shell_state import ShellState
    from nacre.jobs.table import JobTable
    from nacre.sessions.open_sessions import Pool
    from nacre.sessions.session import Session, SessionBackend

# Commands whose plan is remembered; a plan holds the command's text, little more.
MOST_PLANS = 256
# How long the artifact store may grow before its age and size are looked at again.
PRUNE_SECONDS = 600.0
# What is left at least of the limit of a command that was approved in the last moment.
LEAST_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class Sinks:
    """Who sees the output of a run while it comes."""

    live: LiveTail | None
    passthrough: Passthrough | None


class Engine:
    """Runs commands on this machine with one configuration."""

    def __init__(
        self,
        settings: Settings,
        state_dir: str,
        *,
        environ: Mapping[str, str] | None = None,
        approver: Approver | None = None,
    ) -> None:
        self.settings = settings
        self.state_dir = state_dir
        self.artifacts = ArtifactStore(os.path.join(state_dir, "artifacts"))
        self._audit = AuditLog(state_dir, cap_bytes=settings.log.log_cap_bytes)
        self._environ = environ
        self._approver = approver
        self._backends: dict[bool, LocalBackend] = {}
        self._plans: dict[tuple[str, str, float | None, str], tuple[Mapping[str, str], Profile, Plan]] = {}
        self._reviews: dict[tuple[str, str], tuple[Plan, ShellState, Plan]] = {}
        self._prune_at = 0.0
        self._reads_rc = False
        self._told: set[str] = set()
        """Sessions that have read what is wrong with the settings."""
        self._jobs: JobTable | None = None
        self._pool: Pool | None = None

    # Not functools.cached_property: before Python 3.12 it has a lock, which a fork would find taken.

    @property
    def jobs(self) -> JobTable:
        if self._jobs is None:
            # Most calls never need it, and it takes a fifth of the time to load the engine.
            from nacre.jobs.table import JobTable

            self._jobs = JobTable(self.state_dir)
        return self._jobs

    @property
    def _sessions(self) -> Pool:
        if self._pool is None:
            from nacre.sessions.open_sessions import Pool

            settings = self.settings.sessions
            self._pool = Pool(most=settings.most, idle_seconds=settings.idle_seconds)
        return self._pool

    def session(self, key: str, *, cwd: str, with_rc: bool = False) -> Session:
        """The session of this key; a new one begins in `cwd`, with the user's rc where the contract has that."""
        return self._sessions.session(key, cwd=cwd, with_rc=with_rc and self.settings.shell.snapshot)

    def read_rc_early(self, profile: Profile) -> None:
        """Begin to read the user's rc where a session will begin with it, so that its first command seldom waits."""
        if profile.keeps and self.settings.shell.snapshot:
            from nacre.sessions.rc_file import begin

            self._reads_rc = True
            begin(self._plan(ShellRequest(command=":"), profile, cwd="/").command)

    def known_session(self, key: str) -> Session | None:
        return None if self._pool is None else self._pool.known(key)

    def end_session(self, key: str) -> None:
        self._told.discard(key)
        if self._pool is not None:
            self._pool.end(key)

    def with_settings_notices(self, request: ShellRequest, key: str) -> ShellRequest:
        """The request, with what is wrong with the settings as notices if its session has not read that yet."""
        if not self.settings.notices or key in self._told:
            return request
        return replace(request, notices=(*request.notices, *self.settings.notices))

    def settings_notices_told(self, key: str) -> None:
        """Record that a result of this session has carried the notices."""
        if self.settings.notices:
            self._told.add(key)

    def close(self) -> None:
        """Give back what the engine holds open; it may be used again."""
        if self._pool is not None:
            self._pool.close()
        if self._reads_rc:
            from nacre.sessions.rc_file import forget

            forget()
        self._audit.close()

    @property
    def redactor(self) -> Redactor:
        """Knows the values that this program's environment hides from commands."""
        return redactor_for(environment() if self._environ is None else self._environ, self.settings.environment)

    # Review and plan.

    async def prepare(self, request: ShellRequest, profile: Profile, *, cwd: str) -> Plan:
        """Judge the command as it was written, then decide how it runs; raises before anything is started."""
        return await self.review(self.plan(request, profile, cwd=cwd), profile, cwd=cwd)

    def plan(self, request: ShellRequest, profile: Profile, *, cwd: str) -> Plan:
        """Decide how the command runs; a session judges it when its turn has come."""
        try:
            return self._plan(request, profile, cwd=cwd)
        except NacreError as error:
            self.log_refusal(profile.contract, request.command, cwd, error)
            raise

    async def review(self, planned: Plan, profile: Profile, state: ShellState | None = None, *, cwd: str) -> Plan:
        """Judge a planned command: alone, or with what the shell has defined that runs it.

        Args:
            cwd: where the caller or the shell is.
        """
        if not is_guarded(profile, self.settings.policy):
            return planned
        request, command = planned.request, planned.request.command
        if request.cwd is not None and not request.stays:
            cwd = planned.command.cwd
        known = self._reviews.get((command, cwd)) if state is not None else None
        if known is not None and known[0] is planned and known[1] is state:
            return known[2]
        try:
            waited = await approve(
                command,
                self.settings.policy,
                planned.command.env,
                self._approver,
                cwd=cwd,
                timeout=planned.limit,
                state=state,
            )
        except (NacreError, asyncio.CancelledError) as error:
            self.log_failure(profile, planned, error)
            raise
        reviewed = planned
        if waited and planned.limit is not None:
            left = max(planned.limit - waited, LEAST_SECONDS)
            reviewed = replace(planned, command=replace(planned.command, timeout=left), waited=waited)
        if (prologue := _prologue(command, state)) is not None:
            reviewed = replace(reviewed, command=replace(reviewed.command, prologue=prologue))
        if state is not None and self._decides_alone:
            if len(self._reviews) >= MOST_PLANS:
                self._reviews.clear()
            self._reviews[command, cwd] = (planned, state, reviewed)
        return reviewed

    @property
    def _decides_alone(self) -> bool:
        """Whether a verdict stays: who was asked may answer otherwise the next time, and a file of rules may change."""
        return self._approver is None and self.settings.policy.rules_file is None

    async def plan_again(
        self, command: str, timeout: float | None, profile: Profile, *, cwd: str, review: bool = True
    ) -> Plan:
        """The same for a command alone, which an agent runs often: decided once while its surroundings are the same."""
        key = (profile.contract, command, timeout, cwd)
        known = self._plans.get(key)
        environ = environment() if self._environ is None else self._environ
        if known is not None and known[0] is environ and known[1] is profile:
            return known[2]
        check_call(command, timeout=timeout)
        limit = self.settings.execution.timeout_seconds if timeout is None else timeout
        planned = self.plan(ShellRequest(command=command, timeout=limit), profile, cwd=cwd)
        if review:
            planned = await self.review(planned, profile, cwd=cwd)
        if self._decides_alone or not review:
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
            self._plans[key] = (environ, profile, planned)
        return planned

    def watches(self, command: str, profile: Profile) -> bool:
        """Whether the guard looks at the command while it runs, which it can only where we start it."""
        return is_guarded(profile, self.settings.policy) and _prologue(command) is not None

    def _plan(self, request: ShellRequest, profile: Profile, *, cwd: str) -> Plan:
        environ = environment() if self._environ is None else self._environ
        return plan(request, profile, self.settings, cwd=cwd, environ=environ)

    def judge(self, command: str, profile: Profile, *, cwd: str) -> Verdict:
        """What the guard says about a command; nothing is run."""
        planned = self._plan(ShellRequest(command=command), profile, cwd=cwd)
        return judge(command, self.settings.policy, planned.command.env, cwd=cwd)

    # Run to the end.

    async def run(
        self,
        request: ShellRequest,
        profile: Profile,
        *,
        cwd: str,
        live: LiveTail | None = None,
        passthrough: Passthrough | None = None,
        backend: Backend | None = None,
        session: Session | None = None,
    ) -> ShellResult:
        """Run the command: in a place of the caller's choice, else where commands of this profile run."""
        if session is not None:
            return await self.run_in(session, self.plan(request, profile, cwd=cwd), profile, live=live)
        planned = await self.prepare(request, profile, cwd=cwd)
        return await self.run_planned(planned, profile, live=live, passthrough=passthrough, backend=backend)

    async def run_planned(
        self,
        planned: Plan,
        profile: Profile,
        *,
        live: LiveTail | None = None,
        passthrough: Passthrough | None = None,
        backend: Backend | None = None,
    ) -> ShellResult:
        """Run a command that was judged and planned."""
        sinks = Sinks(live, passthrough)
        try:
            if backend is not None:
                return await self._run(backend, planned, profile, sinks)
            return await self._run_somewhere(planned, profile, sinks)
        except (NacreError, asyncio.CancelledError) as error:
            self.log_failure(profile, planned, error)
            raise

    async def run_in(
        self,
        session: Session,
        planned: Plan,
        profile: Profile,
        *,
        live: LiveTail | None = None,
        passthrough: Passthrough | None = None,
    ) -> ShellResult:
        """Run a command that was planned, in a session, which has it judged."""
        try:
            place, planned = await self.enter(session, planned, profile)
            return await self._run_begun(place, planned, profile, Sinks(live, passthrough))
        except (NacreError, asyncio.CancelledError) as error:
            self.log_failure(profile, planned, error)
            raise

    async def enter(self, session: Session, planned: Plan, profile: Profile) -> tuple[SessionBackend, Plan]:
        """Wait for the command's turn in a session, and judge it with what its shell has defined by then.

        The place is to be closed after the run.
        """
        command, request = planned.command, planned.request
        if request.env:
            command = replace(command, env=planned.surroundings)
        reviewed = planned

        async def review(command: Command) -> Command:
            nonlocal reviewed
            known = session.known
            state = known.for_call(request.env or ()) if known is not None else None
            reviewed = await self.review(planned, profile, state, cwd=session.cwd)
            if reviewed is planned:
                return command
            left = command.timeout
            if left is not None and reviewed.waited:
                left = max(left - reviewed.waited, LEAST_SECONDS)
            return replace(command, prologue=reviewed.command.prologue, timeout=left)

        # A caller that waits for something in the output must listen before the output comes.
        place = await session.turn(
            command,
            label=lambda: planned.label,
            env=request.env,
            here=request.cwd is None,
            stays=request.stays,
            lingers=request.until is None,
            review=review,
        )
        if place.timeout != reviewed.command.timeout:
            # What is waited for beyond its end is counted from here.
            reviewed = replace(reviewed, command=replace(reviewed.command, timeout=place.timeout))
        return place, reviewed

    def capture(
        self,
        planned: Plan,
        profile: Profile,
        *,
        live: LiveTail | None = None,
        passthrough: Passthrough | None = None,
    ) -> Capture:
        """Where the output of a run goes."""
        return Capture(
            self.artifacts,
            profile,
            self.settings.output,
            redactor=planned.redactor,
            selection=Selection(head=planned.request.head, tail=planned.request.tail, keep=self.settings.output.keep),
            lifted=planned.request.lifted,
            live=live,
            passthrough=passthrough,
        )

    async def _run_somewhere(self, planned: Plan, profile: Profile, sinks: Sinks) -> ShellResult:
        backend = self.backend_for(profile)
        try:
            return await self._run_here(backend, planned, profile, sinks)
        except BackendUnavailableError as error:
            if self.settings.execution.containment != "auto" or not backend.keeps:
                raise
            fallback = _direct(str(error), mark=profile.environment != "inherited")
            return await self._run_here(fallback, planned, profile, sinks)

    async def _run_here(self, backend: LocalBackend, planned: Plan, profile: Profile, sinks: Sinks) -> ShellResult:
        lingers = await may_linger(asyncio.get_running_loop())
        begun = backend.begin(planned.command) if lingers else None
        if begun is None:
            return await self._run(backend, planned, profile, sinks)
        return await self._run_begun(begun, planned, profile, sinks)

    async def _run_begun(self, begun: Begun, planned: Plan, profile: Profile, sinks: Sinks) -> ShellResult:
        """What ends at once needs none of what a longer command does."""
        began, now = time.time(), time.monotonic()
        try:
            short = begun.at_once()
            if short is None:
                return await self._run(begun, planned, profile, sinks)
            elapsed = time.monotonic() - now
            return self._result_at_once(short, planned, profile, sinks, begun.notice, began, elapsed)
        finally:
            begun.close()

    async def _run(self, backend: Backend, planned: Plan, profile: Profile, sinks: Sinks) -> ShellResult:
        capture = self.capture(planned, profile, live=sinks.live, passthrough=sinks.passthrough)
        try:
            run = Run.start(backend, planned.command, capture)
            try:
                ending = await run.wait()
                if ending.left:
                    await run.settle()
                    await run.let_go()
            except asyncio.CancelledError as error:
                outputs, _ = capture.outputs(keep_all=False)
                self.log_failure(profile, planned, error, **measures(run.elapsed, outputs))
                raise
            finally:
                run.release()
        except BaseException:
            capture.close()
            raise
        return self.summarise(run, ending, planned, profile, capture, backend.notice)

    def backend_for(self, profile: Profile) -> LocalBackend:
        """Where the command runs; the mark of the fallback would be seen in an inherited environment."""
        mark = profile.environment != "inherited"
        if mark not in self._backends:
            self._backends[mark] = self._choose_backend(mark=mark)
        return self._backends[mark]

    def _choose_backend(self, *, mark: bool) -> LocalBackend:
        wanted = self.settings.execution.containment
        reason = "switched off by setting" if wanted == "off" else unsupported_reason()
        if reason is None:
            return ContainedBackend(spares=self.settings.execution.spares)
        if wanted == "required":
            raise BackendUnavailableError(f"containment is required and cannot be had: {reason}")
        return _direct(reason, mark=mark)

    # Summarise.

    def summarise(
        self,
        run: Run,
        ending: Ending,
        planned: Plan,
        profile: Profile,
        capture: Capture,
        backend_notice: str | None,
    ) -> ShellResult:
        ending, lifted_notice = producers_ending(ending, planned.request.lifted)
        run.survivors = redacted_survivors(run.survivors, planned.redactor)
        if ending.unkillable:
            ending = replace(ending, unkillable=redacted_survivors(ending.unkillable, planned.redactor))
        outcome = outcome_of(ending, planned.limit)
        keep_all = profile.keep_partial and isinstance(outcome, TimedOut)
        outputs, problems = capture.outputs(keep_all=keep_all)
        notices = [*planned.request.notices, *problems, *notices_of(run, ending, planned.request)]
        notices += [notice for notice in (lifted_notice, backend_notice) if notice]
        result = ShellResult(
            command=planned.request.command,
            outcome=outcome,
            output=outputs[0],
            stderr=outputs[1] if len(outputs) > 1 else None,
            cwd=run.command.cwd,
            started_at=run.started_at,
            elapsed=run.elapsed,
            timeout=planned.limit,
            requested_timeout=planned.request.requested_timeout,
            stages=ending.stages,
            survivors=run.survivors,
            notices=tuple(notices),
        )
        if any(output.artifact is not None for output in outputs):
            self._prune_artifacts()
        return self._logged(result, profile, planned)

    def _result_at_once(
        self,
        short: AtOnce,
        planned: Plan,
        profile: Profile,
        sinks: Sinks,
        notice: str | None,
        began: float,
        elapsed: float,
    ) -> ShellResult:
        """The result of a command of which everything is known already."""
        outputs, problems = self._outputs_at_once(short.outputs, planned, profile, sinks)
        notices = [*planned.request.notices, *problems]
        notices += [one for one in (hidden_failure(short.stages, short.code, planned.request), notice) if one]
        result = ShellResult(
            command=planned.request.command,
            outcome=Exited(short.code),
            output=outputs[0],
            stderr=outputs[1] if len(outputs) > 1 else None,
            cwd=planned.command.cwd,
            started_at=began,
            elapsed=elapsed,
            timeout=planned.limit,
            requested_timeout=planned.request.requested_timeout,
            stages=short.stages,
            notices=tuple(notices),
        )
        return self._logged(result, profile, planned)

    def _outputs_at_once(
        self, streams: tuple[bytes, ...], planned: Plan, profile: Profile, sinks: Sinks
    ) -> tuple[list[Output], Sequence[str]]:
        if not planned.redactor and sinks.live is None:
            if sinks.passthrough is not None:
                for stream, data in enumerate(streams, start=1):
                    sinks.passthrough(stream, memoryview(data))
            shown = [profile.view(_whole(data), EVERYTHING) for data in streams]
            if not any(map(is_cut, shown)):
                return shown, ()
            sinks = Sinks(None, None)
        capture = self.capture(planned, profile, live=sinks.live, passthrough=sinks.passthrough)
        for stream, data in enumerate(streams, start=1):
            capture.feed(stream, bytearray(data), len(data))
        outputs, problems = capture.outputs(keep_all=False)
        if any(output.artifact is not None for output in outputs):
            self._prune_artifacts()
        return outputs, problems

    def _logged(self, result: ShellResult, profile: Profile, planned: Plan) -> ShellResult:
        problem = self.log(profile, planned, entry_of(result))
        return replace(result, notices=(*result.notices, problem)) if problem else result

    def log(self, profile: Profile, planned: Plan, facts: Mapping[str, Any]) -> str | None:
        entry = {
            "time": time.time(),
            "contract": profile.contract,
            "command": planned.redactor.redact_text(planned.request.command),
            "cwd": planned.redactor.redact_text(planned.command.cwd),
            **facts,
        }
        return self._audit.append(entry)

    def log_failure(self, profile: Profile, planned: Plan, error: BaseException, **facts: Any) -> None:
        """Log that a call came to nothing, unless a frame below has logged the same error."""
        hide_in(error, planned.redactor)
        if not _is_logged(error):
            self.log(profile, planned, {**failure_of(error, planned.redactor), **facts})

    def log_refusal(self, contract: str, command: str, cwd: str, error: BaseException) -> None:
        """The same for a call that was refused before it was planned."""
        redactor = self.redactor
        hide_in(error, redactor)
        if _is_logged(error):
            return
        entry = {
            "time": time.time(),
            "contract": contract,
            "command": redactor.redact_text(command),
            "cwd": redactor.redact_text(cwd),
            **failure_of(error, redactor),
        }
        self._audit.append(entry)

    def _prune_artifacts(self) -> None:
        """Hold the store to its age and size: when it has grown, but seldom, because every artifact is looked at."""
        now = time.monotonic()
        if now < self._prune_at:
            return
        self._prune_at = now + PRUNE_SECONDS
        settings = self.settings.output
        # What cannot be removed now is removed by a later look; the command is not concerned.
        with contextlib.suppress(ArtifactError):
            self.artifacts.prune(
                max_age_seconds=settings.artifact_days * 86400, max_total_bytes=settings.artifact_store_bytes
            )


# Set on an exception whose call is in the log: it passes several frames that would log it.
_LOGGED = "nacre_logged"


def _is_logged(error: BaseException) -> bool:
    """Whether a frame below has logged it; from now on it counts as logged."""
    known = error.__dict__.get(_LOGGED, False)
    error.__dict__[_LOGGED] = True
    return bool(known)


def _direct(reason: str, *, mark: bool) -> LocalBackend:
    from nacre.backends.direct import DirectBackend

    return DirectBackend(reason, mark=mark)


def _whole(data: bytes) -> Captured:
    lines = data.count(b"\n") + (data[-1:] not in (b"", b"\n"))
    return Captured(whole=data, head=data, tail=data, total_bytes=len(data), total_lines=lines)


def _prologue(command: str, state: ShellState | None = None) -> str | None:
    """The run-time guard, where a recursive rm has a target that only the shell will know."""
    if "rm" not in command and (state is None or not needs_review(command, state.names)):
        return None
    from nacre.guard.runtime_guard import runtime_guard

    return runtime_guard(command, state)


# Building an engine reads files; a program makes thousands of calls with the same few configurations.
_ENGINES: dict[tuple[object, ...], tuple[Engine, object, object, object]] = {}
_MOST_ENGINES = 64


def from_environment(*, settings: Settings | None = None, approver: Approver | None = None) -> Engine:
    """The engine that this process's environment and files describe, as they are now.

    The project is where the program runs: the directory of a tool belongs to its agent, and may not even answer.
    """
    environ = environment()
    # Files are asked for again each time; everything else is the same while its objects are.
    files = config.file_stamps(environ, config.working_directory()) if settings is None else None
    key = (id(environ), id(settings), id(approver), files)
    known = _ENGINES.get(key)
    if known is None:
        if len(_ENGINES) >= _MOST_ENGINES:
            forget_engines()
        if settings is None:
            loaded = config.load(environ, cwd=config.working_directory())
            engine = Engine(loaded.settings, loaded.state_dir, approver=approver)
        else:
            engine = Engine(settings, config.state_dir(environ), approver=approver)
        # The objects are held, so that their identities stay theirs. Of two threads that come at once one is the first,
        # and both use its engine: another would keep a log open that nobody closes.
        known = _ENGINES.setdefault(key, (engine, environ, settings, approver))
    return known[0]


def forget_engines() -> None:
    """Give back what the remembered engines hold open."""
    for engine, *_ in _ENGINES.values():
        engine.close()
    _ENGINES.clear()
