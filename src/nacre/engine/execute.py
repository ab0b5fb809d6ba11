"""One call, from its plan to its result: review → start → wait or keep → summarise.

A ShellResult is returned exactly when a process was started; before that, an exception. Every call is logged once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar, overload

from nacre.backend import Backend
from nacre.backends.inline_wait import LoopUse, use_of
from nacre.command import Command
from nacre.engine.call_log import entry_of, measures
from nacre.engine.capture import Capture
from nacre.engine.engine import Engine
from nacre.engine.observers import NO_OBSERVERS, Observers
from nacre.engine.planner import LEAST_SECONDS
from nacre.engine.run import Run, until_done
from nacre.engine.summary import Finished, summarise
from nacre.errors import BackendUnavailableError, JobError, NacreError, NoEventLoopError
from nacre.planning.plan import Plan
from nacre.profile import Profile
from nacre.result import ShellResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.engine.undoing import Undoing
    from nacre.engine.wait import WaitPolicy
    from nacre.kept_command import Background
    from nacre.sessions.session import SessionBackend, ShellSession

T = TypeVar("T")
Attempt = Callable[[Backend, Plan], Awaitable[T]]
"""Runs a reviewed plan in a place."""

# A command that runs for so long may have viewers that it does not know.
LATER_SECONDS = 0.5

NO_SESSION = (
    "the session has no shell without the warden: the command ran in a shell of its own, and what it changed is gone"
)
NOT_HELD = "without a warden only the budgets of output and time hold, not those of cpu, memory, processes and files"
NO_WARDEN = "without a warden no command can go on in the background: it was waited for to its end"


@overload
async def execute(
    engine: Engine,
    planned: Plan,
    profile: Profile,
    *,
    policy: None = None,
    observers: Observers = NO_OBSERVERS,
    session: ShellSession | None = None,
    backend: Backend | None = None,
) -> ShellResult: ...


@overload
async def execute(
    engine: Engine,
    planned: Plan,
    profile: Profile,
    *,
    policy: WaitPolicy | None,
    observers: Observers = NO_OBSERVERS,
    session: ShellSession | None = None,
    backend: Backend | None = None,
) -> ShellResult | Background: ...


async def execute(
    engine: Engine,
    planned: Plan,
    profile: Profile,
    *,
    policy: WaitPolicy | None = None,
    observers: Observers = NO_OBSERVERS,
    session: ShellSession | None = None,
    backend: Backend | None = None,
) -> ShellResult | Background:
    """Run a planned command; return its result, or the job it became while the call waited.

    Args:
        policy: how long the call waits; None waits to the end.
        session: the session whose shell runs it.
        backend: the place where it runs, if not where commands of this profile run.
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        raise NoEventLoopError from None
    use = use_of(loop)
    use.calls += 1
    try:
        call = engine.log.begin(profile, planned)
        attempt = partial(_run, engine, profile, policy, observers, use, call)
        found = await in_place(engine, planned, profile, attempt, call=call, session=session, backend=backend)
    finally:
        use.calls -= 1
    # Without its sandbox a try would run on the files themselves.
    confines = engine.confining is not None and planned.command.overlay is None
    if confines and isinstance(found, ShellResult) and not found.ok:
        from nacre.engine.widening import offer

        options = {"policy": policy, "observers": observers, "session": session}
        return await offer(engine, planned, profile, found, call=call, **options)  # type: ignore[arg-type]
    return found


async def in_place(
    engine: Engine,
    planned: Plan,
    profile: Profile,
    attempt: Attempt[T],
    *,
    call: str,
    session: ShellSession | None = None,
    backend: Backend | None = None,
) -> T:
    """Review a plan and attempt it where it runs: if the warden is unavailable, without one and with a notice."""
    undo: Undoing | None = None
    # On an overlay a command destroys nothing.
    if engine.settings.undo.mode == "on" and planned.command.overlay is None:
        from nacre.engine.undoing import Undoing

        undo = Undoing(engine, profile)
        attempt = undo.around(attempt)
    try:
        try:
            if session is not None:
                place, reviewed = await enter(engine, call, session, planned, profile, undo)
                try:
                    return await attempt(place, reviewed)
                finally:
                    place.close()
            if not planned.reviewed:
                planned = await engine.planner.review(planned, profile, call=call)
            if undo is not None:
                planned = await undo.before(planned)
            return await attempt(engine.backend_for(profile) if backend is None else backend, planned)
        except BackendUnavailableError as error:
            fallback = engine.fallback_for(profile, error) if backend is None else None
            if fallback is None:
                raise
        planned = planned.without_side()
        if session is not None:
            planned = await engine.planner.review(planned.with_notice(NO_SESSION), profile, call=call)
        return await attempt(fallback, planned)
    except (NacreError, asyncio.CancelledError) as error:
        engine.log.add_failure(profile, planned, error, call=call)
        raise


async def enter(
    engine: Engine, call: str, session: ShellSession, planned: Plan, profile: Profile, undo: Undoing | None = None
) -> tuple[SessionBackend, Plan]:
    """Wait for the command's turn in a session, and judge it with what its shell has defined by then.

    The place is to be closed after the run.
    """
    command, request = planned.command, planned.request
    if request.env:
        command = replace(command, env=planned.shared_env)
    reviewed = planned

    async def review(command: Command) -> Command:
        nonlocal reviewed
        state = session.state_for(request.env)
        reviewed = await engine.planner.review(planned, profile, state, cwd=session.cwd, call=call)
        if undo is not None:
            reviewed = await undo.before(reviewed, cwd=session.cwd, state=state)
        if reviewed is planned:
            return command
        left = command.timeout
        if left is not None and reviewed.waited:
            left = max(left - reviewed.waited, LEAST_SECONDS)
        return replace(command, prologue=reviewed.command.prologue, timeout=left)

    place = await session.turn(
        command,
        label=lambda: planned.label,
        env=request.env,
        here=request.cwd is None,
        stays=request.stays,
        review=review,
    )
    if place.timeout != reviewed.command.timeout:
        # What is waited for beyond its end is counted from here.
        reviewed = reviewed._replace(command=replace(reviewed.command, timeout=place.timeout))
    return place, reviewed


async def _run(
    engine: Engine,
    profile: Profile,
    policy: WaitPolicy | None,
    observers: Observers,
    use: LoopUse,
    call: str,
    place: Backend,
    planned: Plan,
) -> ShellResult | Background:
    if use.blocked and use.calls == 1:
        # The last call blocked the loop for a moment: other callbacks have their turn before this one may.
        await asyncio.sleep(0)
    capture = Capture(engine.artifacts, profile, engine.settings, planned, observers)
    try:
        event = None
        if policy is not None and policy.until is not None and place.keeps:
            from nacre.engine.event import Event

            event = Event(policy.until, capture, cwd=planned.command.cwd)
        if engine.log.viewing is not None:
            engine.log.viewing.show_output(call, capture)
        run = Run.start(place, planned.command, capture)
        try:
            if not run.watch.over:
                look = partial(_look_again, engine, call, profile, planned, run, capture)
                run.later = run.watch.loop.call_later(LATER_SECONDS, look)
                if engine.log.viewing is not None:
                    engine.log.viewing.attend(call, run)
            notices: list[str] = []
            if policy is not None and (event is not None or not run.watch.over) and place.keeps:
                from nacre.engine.background import keep
                from nacre.engine.wait import wait

                waited = await wait(run, policy.after(planned.waited), event)
                if waited.why is not None:
                    try:
                        return await keep(engine, call, run, planned, profile, capture, waited)
                    except JobError as error:
                        # No room for another job: then the call waits to the end after all, and says why.
                        notices.append(f"it could not go on in the background: {error}")
                elif waited.notice is not None:
                    notices.append(waited.notice)
            elif policy is not None and policy.until is not None:
                notices.append(NO_WARDEN)
            adopted = problem = None
            ending = await run.wait()
            if ending.left:
                adopted, problem = await _see_to_survivors(engine, run, planned, profile)
            unheld = None if planned.command.budget is None or place.keeps else NOT_HELD
            after = (place.notice, problem, unheld)
            return conclude(engine, call, Finished(run, ending, planned, profile, capture, notices, after, adopted))
        except asyncio.CancelledError as error:
            outputs, _ = capture.outputs()
            engine.log.add_failure(profile, planned, error, call=call, **measures(run.elapsed, outputs))
            raise
        finally:
            run.release()
    except BaseException:
        capture.close()
        raise


def _look_again(engine: Engine, call: str, profile: Profile, planned: Plan, run: Run, capture: Capture) -> None:
    """Look for viewers that came after the call's begin, from time to time."""
    if run.over:
        return
    if (viewing := engine.log.look_for_viewers()) is not None:
        viewing.join(call, profile, planned, run, capture)
    run.later = run.watch.loop.call_later(LATER_SECONDS, _look_again, engine, call, profile, planned, run, capture)


async def _see_to_survivors(engine: Engine, run: Run, planned: Plan, profile: Profile) -> tuple[str | None, str | None]:
    """Find out what a finished command left running, and keep it as a job if its contract does that.

    If the call is cancelled meanwhile, what was left is ended before the cancellation goes on.

    Returns:
        The job, or why there is none.
    """
    handing = asyncio.ensure_future(_hand_over_survivors(engine, run, planned, profile))
    try:
        return await asyncio.shield(handing)
    except asyncio.CancelledError:
        await until_done(handing)
        # Its error, if it has one, is not the answer to a cancelled call.
        handing.exception()
        await run.sweep()
        raise


async def _hand_over_survivors(
    engine: Engine, run: Run, planned: Plan, profile: Profile
) -> tuple[str | None, str | None]:
    await run.settle()
    adopted = problem = None
    if run.survivors and profile.adopts_survivors:
        from nacre.engine.background import adopt

        adopted, problem = await adopt(engine, run, planned, profile)
    if adopted is None:
        await run.let_go()
    return adopted, problem


def conclude(engine: Engine, call: str, finished: Finished, *, recording: int | None = None) -> ShellResult:
    """The result of a run that is over, and its entry in the log."""
    result = summarise(finished)
    if recording is not None or engine.remote:
        result = replace(result, recording=recording, remote=engine.remote)
    if engine.confining is not None:
        result = engine.confining.explained(finished.planned, result)
    if result.output.artifact is not None or (result.stderr is not None and result.stderr.artifact is not None):
        engine.prune_artifacts()
    problem = engine.log.add(call, finished.profile, finished.planned, entry_of(result))
    return result if problem is None else replace(result, notices=(*result.notices, problem))
