"""Commands that outlive their call: wait a while, then keep; adopt what a finished one left running.

The same run, whoever waits for it: keeping only moves the reading of its pipe to the far side, at the very byte where
the caller stopped. Nothing is restarted, nothing is lost in between.
"""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from nacre.backend import Backend
from nacre.engine.capture import Capture, Nowhere
from nacre.engine.engine import Engine
from nacre.engine.event import happened
from nacre.engine.live import LiveTail
from nacre.engine.log_entry import measures
from nacre.engine.run import Run
from nacre.errors import BackendError, JobError, NacreError
from nacre.jobs.job import Job
from nacre.jobs.notices import claim, output_of
from nacre.jobs.ownership import project_of
from nacre.jobs.status import outcome_of as job_outcome
from nacre.output.sizes import human_size
from nacre.planning.plan import Plan
from nacre.profile import Background, Profile
from nacre.regex.automaton import RegexWorkError
from nacre.request import Owner, ShellRequest
from nacre.result import Output, ShellResult
from nacre.state_directory import files
from nacre.until import Until
from nacre.warden import children, record
from nacre.warden.launch import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.sessions.session import Session

# A job that cannot even begin (no such command, not valid shell) has ended by then: its caller should read that, not
# that it was started. That the shell runs says nothing of it, and bash needs some 5 ms to find out. Twice that, so that
# a start stays well below 20 ms; on a busy machine the notice of its end tells it instead.
SETTLE_SECONDS = 0.01

Kept = Literal["window", "event"]

# A command that has ended may have done what was waited for in its last moment: this much for the look.
LAST_LOOK_SECONDS = 0.2
# … and one that has just done it may be about to end: then it is a result, not a job.
LAST_BREATH_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a call waits for its command before it is kept as a job."""

    window: float | None
    """Seconds; None waits to the end."""
    until: Until | None = None
    """Or this, whichever comes first."""

    def after(self, waited: float) -> Patience:
        """What is left of it when the caller has waited for an approval already."""
        return replace(self, window=max(self.window - waited, 0.0)) if self.window is not None and waited else self


async def run_or_keep(
    engine: Engine,
    request: ShellRequest,
    profile: Profile,
    *,
    cwd: str,
    patience: Patience,
    live: LiveTail | None = None,
    session: Session | None = None,
) -> ShellResult | Background:
    """Run the command, in a session if there is one; return its result, or the job it became while we waited."""
    if session is None:
        planned = await engine.prepare(request, profile, cwd=cwd)
    else:
        planned = engine.plan(request, profile, cwd=cwd)
    capture = engine.capture(planned, profile, live=live)
    try:
        if session is None:
            left = patience.after(planned.waited)
            return await _run(engine, engine.backend_for(profile), planned, profile, capture, left)
        place, planned = await engine.enter(session, planned, profile)
        try:
            return await _run(engine, place, planned, profile, capture, patience.after(planned.waited))
        finally:
            place.close()
    except (NacreError, asyncio.CancelledError) as error:
        engine.log_failure(profile, planned, error)
        raise
    finally:
        capture.close()


async def _run(
    engine: Engine, backend: Backend, planned: Plan, profile: Profile, capture: Capture, patience: Patience
) -> ShellResult | Background:
    run = Run.start(backend, planned.command, capture)
    try:
        waited = await _wait(run, capture, patience, can_keep=backend.keeps)
        notices = []
        if waited.why is not None:
            try:
                kept = await _keep(engine, run, planned, profile, capture, waited.why)
                return kept if waited.problem is None else replace(kept, notices=(*kept.notices, waited.problem))
            except JobError as error:
                # No room for another job: then the call waits to the end after all, and says why.
                notices.append(f"it could not go on in the background: {error}")
        elif patience.until is not None and not backend.keeps:
            notices.append("without a warden no command can go on in the background: it was waited for to its end")
        elif patience.until is not None and waited.problem is not None:
            notices.append(waited.problem)
        elif patience.until is not None and not waited.happened:
            notices.append(f"the command ended before this happened: {patience.until}")
        result = await _finish(engine, run, planned, profile, capture, backend.notice)
    except asyncio.CancelledError as error:
        outputs, _ = capture.outputs(keep_all=False)
        engine.log_failure(profile, planned, error, **measures(run.elapsed, outputs))
        raise
    finally:
        run.release()
    return replace(result, notices=(*notices, *result.notices)) if notices else result


@dataclass(frozen=True, slots=True)
class _Waited:
    why: Kept | None
    """Why the command is to be kept; None when it has ended or cannot be."""
    happened: bool
    """Whether what was waited for has happened."""
    problem: str | None = None
    """Why that could not be found out."""


async def _wait(run: Run, capture: Capture, patience: Patience, *, can_keep: bool) -> _Waited:
    """Wait for the end, the event or the window."""
    if not can_keep:
        await run.wait()
        return _Waited(None, happened=False)
    waiting: list[asyncio.Future[Any]] = [run.finished]
    event: asyncio.Task[None] | None = None
    if patience.until is not None:
        event = asyncio.create_task(happened(patience.until, capture, cwd=run.command.cwd))
        waiting.append(event)
    try:
        await asyncio.wait(waiting, timeout=patience.window, return_when=asyncio.FIRST_COMPLETED)
        if event is not None and run.finished.done():
            await asyncio.wait([event], timeout=LAST_LOOK_SECONDS)
        elif event is not None and event.done():
            await asyncio.wait([run.finished], timeout=LAST_BREATH_SECONDS)
    except asyncio.CancelledError:
        await run.end()
        raise
    finally:
        came = event is not None and event.done() and event.exception() is None
        if event is not None:
            event.cancel()
            await asyncio.wait([event])
    problem = None
    if event is not None and not event.cancelled() and (error := event.exception()) is not None:
        if not isinstance(error, RegexWorkError | NacreError):
            raise error
        problem = f"the event of 'until' was not found out: {error}"
    if run.finished.done():
        return _Waited(None, happened=came, problem=problem)
    return _Waited("event" if came else "window", happened=came, problem=problem)


async def _finish(
    engine: Engine, run: Run, planned: Plan, profile: Profile, capture: Capture, notice: str | None
) -> ShellResult:
    ending = await run.wait()
    await run.settle()
    adopted = None
    problem = None
    if run.survivors and ending.why is None:
        try:
            adopted = await _adopt(engine, run, planned, profile)
        except (JobError, BackendError) as error:
            problem = f"what it left running could not be kept as a job: {error}"
            await run.let_go()
    result = engine.summarise(run, ending, planned, profile, capture, notice)
    if problem is not None:
        result = replace(result, notices=(*result.notices, problem))
    return replace(result, adopted=adopted)


async def _keep(engine: Engine, run: Run, planned: Plan, profile: Profile, capture: Capture, why: Kept) -> Background:
    """Make the running command a job."""
    facts: dict[str, Any] = {"startedAt": run.started_at}
    if planned.request.lifted is not None:
        facts["producer"] = planned.request.lifted.producer
    spec, directory, problems = await _new_job(engine, planned, profile, **facts)
    job_id = directory.name
    preview = capture.preview()
    try:
        run.pause()
        held, lost = capture.hand_over(str(directory / record.OUTPUT))
        spec["held"] = held.decode("latin-1")
        await run.keep(spec)
    except (OSError, NacreError) as error:
        # Its output is on the way from one reader to another: there is no way back to the foreground.
        await run.end()
        engine.jobs.discard(directory)
        raise JobError(f"{job_id} could not be kept and was stopped: {error}") from error
    except asyncio.CancelledError:
        # Whoever reads it by now, a cancelled call leaves nothing running.
        await run.end()
        raise
    problem = engine.log(profile, planned, {"outcome": "background", "jobId": job_id, "pid": run.pid})
    notices = [*_keeping_notices(planned, capture, preview, why), *problems, *(one for one in (lost, problem) if one)]
    return _background(planned, job_id, directory, run, preview.text, why, notices)


def _selection_notices(request: ShellRequest) -> list[str]:
    """That the selection of a call does not hold for the job it became."""
    given = [f"`{name}: {count}`" for name, count in (("head", request.head), ("tail", request.tail)) if count]
    if not given:
        return []
    verb = "does" if len(given) == 1 else "do"
    return [
        f"{' and '.join(given)} {verb} not hold for a job: it keeps all output; the job tool's read selects from it"
    ]


def _keeping_notices(planned: Plan, capture: Capture, preview: Output, why: Kept) -> list[str]:
    request = planned.request
    notices = _selection_notices(request)
    if preview.truncation is not None:
        notices.append(f"Output so far: {human_size(preview.total_bytes)}, of which the newest lines are shown")
    if request.until is not None and why == "window":
        notices.append(f"This has not happened yet: {request.until}")
    if request.lifted is not None and request.lifted.side:
        whole = capture.end_side()
        where = f"; all output until now is artifact://{whole.id}" if whole is not None else ""
        notices.append(f"The job keeps what `{request.lifted.stage}` selects{where}")
    return notices


def _background(
    planned: Plan, job_id: str, directory: Path, run: Run, preview: str, why: Kept, notices: list[str]
) -> Background:
    request = planned.request
    return Background(
        job_id=job_id,
        pid=run.pid or 0,
        output_file=str(directory / record.OUTPUT),
        preview=preview,
        why=why,
        event=f"{request.until}" if why == "event" else None,
        label=planned.label,
        elapsed=run.elapsed,
        timeout=planned.limit,
        requested_timeout=request.requested_timeout,
        notices=(*request.notices, *notices),
    )


async def _adopt(engine: Engine, run: Run, planned: Plan, profile: Profile) -> str:
    """Make what the finished command left running a job of its own."""
    command = planned.redactor.redact_text(" ".join(run.survivors[0].argv))
    facts = {"command": command, "label": command[:120], "timeout": None, "from": planned.label}
    spec, directory, _ = await _new_job(engine, planned, profile, **facts)
    try:
        await run.adopt(spec)
    except NacreError:
        engine.jobs.discard(directory)
        raise
    return directory.name


async def start_in_background(
    engine: Engine, request: ShellRequest, profile: Profile, *, cwd: str, session: Session | None = None
) -> Background:
    """Start the command as a job that outlives this program; it begins with a copy of the session's state."""
    planned = engine.plan(request, profile, cwd=cwd)
    # What it is judged with is what it begins with.
    known = session.known if session is not None else None
    state = session.restoring(planned.surroundings) if session is not None else ""
    planned = await engine.review(
        planned, profile, known.for_call(request.env or ()) if known is not None else None, cwd=cwd
    )
    if state:
        own = "".join(f"export {name}={quoted(value)}\n" for name, value in (request.env or {}).items())
        prologue = f"{state}\n{own}{planned.command.prologue}"
        planned = replace(planned, command=replace(planned.command, prologue=prologue))
    try:
        pid, directory, ended, problems = await _start_job(engine, planned, profile)
    except (NacreError, asyncio.CancelledError) as error:
        engine.log_failure(profile, planned, error)
        raise
    job_id = directory.name
    problem = engine.log(profile, planned, {"outcome": "background", "jobId": job_id, "pid": pid})
    # Who finds the delivery taken has been told by the notice; this answer then only says that it was started.
    told = ended if ended is not None and claim(ended) else None
    return Background(
        job_id=job_id,
        pid=pid,
        output_file=str(directory / record.OUTPUT),
        preview=output_of(told) if told is not None else "",
        outcome=job_outcome(told) if told is not None else None,
        exit_code=told.record.get("exitCode") if told is not None else None,
        label=planned.label,
        timeout=planned.limit,
        requested_timeout=request.requested_timeout,
        notices=(*request.notices, *_selection_notices(request), *problems, *([problem] if problem else [])),
    )


async def _start_job(engine: Engine, planned: Plan, profile: Profile) -> tuple[int, Path, Job | None, list[str]]:
    """Start it; its pid and directory, the job if it has ended at once, and notices."""
    spec, directory, notices = await _new_job(engine, planned, profile)
    command = planned.command
    try:
        if planned.request.terminal:
            command = replace(command, stdin=str(_make_fifo(directory)))
        run = Run.start(engine.backend_for(profile), command, Nowhere(), job=spec)
        try:
            pid = await run.announced()
            if profile.keeps:
                await asyncio.wait([run.finished], timeout=max(0.0, SETTLE_SECONDS - run.elapsed))
            # Only an answer that tells the end may take its delivery.
            ended = engine.jobs.get(directory.name) if profile.keeps and run.finished.done() else None
            return pid, directory, ended, notices
        except asyncio.CancelledError:
            # Nobody will hear of this job: a cancelled call leaves nothing running.
            await run.end()
            raise
        finally:
            run.release()
    except NacreError:
        engine.jobs.discard(directory)
        raise


async def _new_job(
    engine: Engine, planned: Plan, profile: Profile, **facts: Any
) -> tuple[dict[str, Any], Path, list[str]]:
    """What the far side must know of a new job, its directory, named as the job, and notices.

    Raises:
        JobLimitError: too many run already.
        JobError: the state directory cannot be used, or has no room.
    """
    owner = planned.request.owner or Owner(session=None, directory=planned.command.cwd)
    facts |= {"session": owner.session, "project": await project_of(owner.directory)}
    settings = engine.settings.jobs
    notices: list[str] = []
    engine.jobs.prune_seldom(max_age_seconds=settings.job_hours * 3600)
    job_id, directory = engine.jobs.allot(most=settings.max_jobs, notices=notices)
    spec = _job_spec(engine, planned, profile, job_id, directory)
    spec["record"] |= facts
    engine.jobs.reserve(directory, spec["record"])
    return spec, directory, notices


def _job_spec(engine: Engine, planned: Plan, profile: Profile, job_id: str, directory: Path) -> dict[str, Any]:
    """What the far side must know to keep a command; the hidden values go over the socket, never to disk."""
    settings = engine.settings.jobs
    return {
        "directory": str(directory),
        "headBytes": settings.job_head_bytes,
        "capBytes": settings.job_cap_bytes,
        "hidden": [(name, form.decode("latin-1")) for name, form in planned.redactor.to_forms()],
        "record": {
            "id": job_id,
            "command": planned.redactor.redact_text(planned.request.command),
            "label": planned.label,
            "cwd": planned.command.cwd,
            "contract": profile.contract,
            "timeout": planned.limit,
            "startedAt": time.time(),
            "completionLine": profile.completion_line,
            "ownerPid": os.getpid(),
            "ownerStart": children.start_time(os.getpid()),
        },
    }


def _make_fifo(directory: Path) -> Path:
    """The standard input of a job that can be written to, from any process of the same user."""
    path = directory / "stdin"
    try:
        files(str(directory.parent)).call(os.mkfifo, path, 0o600)
    except OSError as error:
        raise JobError(f"the job's standard input could not be made: {error.strerror}") from error
    return path
