"""Commands that outlive their call: start one as a job, keep one that still runs, adopt what a finished one left.

Keeping only moves the reading of a run's pipe to the far side, at the very byte where the caller stopped. Nothing is
restarted, nothing is lost in between.
"""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from nacre.command import NewJob
from nacre.engine.capture import Capture, Nowhere
from nacre.engine.engine import Engine
from nacre.engine.hidden_failure import answering_stages
from nacre.engine.run import Run
from nacre.engine.wait import Kept, Waited
from nacre.errors import BackendError, JobError, NacreError, StartError
from nacre.feed.call_ids import call_ids
from nacre.jobs.job import Job
from nacre.jobs.notices import claim, output_of
from nacre.jobs.ownership import project_of
from nacre.jobs.status import outcome_of as job_outcome
from nacre.kept_command import Background
from nacre.output.sizes import human_size
from nacre.planning.plan import Plan
from nacre.profile import Profile
from nacre.request import Owner, ShellRequest
from nacre.result import Output
from nacre.state_directory import files
from nacre.warden import children, record
from nacre.warden.launch import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.engine.undoing import Undoing
    from nacre.sessions.session import ShellSession

# A job that cannot even begin (no such command, not valid shell) has ended by then: its caller should read that, not
# that it was started. That the shell runs says nothing of it, and bash needs some 5 ms to find out. Twice that, so that
# a start stays well below 20 ms; on a busy machine the notice of its end tells it instead.
SETTLE_SECONDS = 0.01


async def start_in_background(
    engine: Engine, request: ShellRequest, profile: Profile, *, cwd: str, session: ShellSession | None = None
) -> Background:
    """Start the command as a job that outlives this program; it begins with a copy of the session's state."""
    call, planned, undo = await plan_apart(engine, request, profile, cwd=cwd, session=session)
    try:
        run, directory, ended, notices = await _start_job(engine, call, planned, profile)
    except (NacreError, asyncio.CancelledError) as error:
        engine.log.add_failure(profile, planned, error, call=call)
        if undo is not None:
            await undo.ended()
        raise
    notices = [*selection_notices(request), *notices]
    background = background_of(engine, call, run, planned, profile, directory, notices)
    if undo is not None:
        background = await undo.after(background)
    # An end whose delivery is claimed by a notice is told there; this answer then only says that the job was started.
    if ended is None or not claim(ended):
        return background
    # The output has lost escapes that may have broken a hidden value in two.
    return replace(
        background,
        preview=planned.redactor.redact_text(output_of(ended)),
        outcome=job_outcome(ended),
        exit_code=ended.record.get("exitCode"),
    )


class Apart(NamedTuple):
    """A call whose command has a shell of its own."""

    call: str
    planned: Plan
    undo: Undoing | None


async def plan_apart(
    engine: Engine, request: ShellRequest, profile: Profile, *, cwd: str, session: ShellSession | None
) -> Apart:
    """Plan and judge a command for a shell of its own, which begins with a copy of the session's state."""
    planned = engine.planner.plan(request, profile, cwd=cwd)
    call = engine.log.begin(profile, planned)
    if session is not None:
        await session.settle()
    # What it is judged with is what it begins with.
    state = session.restoring(planned.shared_env) if session is not None else ""
    known = session.state_for(request.env) if session is not None else None
    planned = await engine.planner.review(planned, profile, known, call=call)
    undo: Undoing | None = None
    if engine.settings.undo.mode == "on":
        from nacre.engine.undoing import Undoing

        undo = Undoing(engine, profile)
        planned = await undo.before(planned, state=known)
    return Apart(call, with_state(planned, state), undo)


def with_state(planned: Plan, state: str) -> Plan:
    """The plan whose shell begins with the state of a session."""
    if not state:
        return planned
    own = dict(planned.request.env or {})
    if planned.request.terminal is not None:
        own["TERM"] = planned.command.env["TERM"]
    exports = "".join(f"export {name}={quoted(value)}\n" for name, value in own.items())
    prologue = f"{state}\n{exports}{planned.command.prologue}"
    return planned._replace(command=replace(planned.command, prologue=prologue))


async def _start_job(
    engine: Engine, call: str, planned: Plan, profile: Profile
) -> tuple[Run, Path, Job | None, list[str]]:
    """Start it; its run and directory, the job if it has ended at once, and notices."""
    job, directory, notices = await new_job(engine, call, planned, profile)
    command = planned.command
    try:
        if planned.request.open_input:
            command = replace(command, stdin=str(_make_fifo(directory)))
        run = Run.start(engine.backend_for(profile), command, Nowhere(), job=job)
        try:
            if not await run.announced():
                look_for_start(run, directory)
            if profile.tells_early_end:
                await asyncio.wait([run.watch.until_over()], timeout=max(0.0, SETTLE_SECONDS - run.elapsed))
            # Only an answer that tells the end may take its delivery.
            job_now = engine.jobs.get(directory.name) if profile.tells_early_end and run.over else None
            # Processes of a job whose runner was killed may still be ending.
            ended = None if job_now is None or job_now.running else job_now
            return run, directory, ended, notices
        except asyncio.CancelledError:
            # The caller does not learn of this job: a cancelled call leaves nothing running.
            await run.end()
            raise
        finally:
            run.release()
    except NacreError:
        engine.jobs.discard(directory)
        raise


def look_for_start(run: Run, directory: Path) -> None:
    """Find out whether a job has started whose runner was killed before it could tell.

    Raises:
        StartError: it has not: without a record there is no job that could have an end.
    """
    try:
        found = files(str(directory.parent)).call(record.read, str(directory))
    except (OSError, ValueError):
        found = None
    if found is None:
        raise StartError("the job was not started: its runner was killed meanwhile; start it again")
    run.watch.pid = found["pid"]


async def keep(
    engine: Engine, call: str, run: Run, planned: Plan, profile: Profile, capture: Capture, waited: Waited
) -> Background:
    """Make the running command a job.

    Raises:
        JobError: there is no room for it, and it goes on as it is; or it could not be kept and was stopped.
    """
    facts: dict[str, Any] = {"startedAt": run.started_at}
    if planned.request.lifted is not None:
        facts["producer"] = planned.request.lifted.producer
    job, directory, problems = await new_job(engine, call, planned, profile, **facts)
    preview = capture.preview()
    try:
        run.pause()
        held, lost = capture.hand_over(str(directory / record.OUTPUT))
        told = _size_of(directory) if engine.log.viewing is not None else 0
        await run.keep(job._replace(held=held))
    except (OSError, NacreError) as error:
        # Its output is on the way from one reader to another: there is no way back to the foreground.
        await run.end()
        engine.jobs.discard(directory)
        raise JobError(f"{directory.name} could not be kept and was stopped: {error}") from error
    except asyncio.CancelledError:
        # A cancelled call leaves nothing running, whichever side reads the output by now.
        await run.end()
        raise
    assert waited.why is not None
    notices = [*_keeping_notices(planned, capture, preview, waited.why), *problems, *([lost] if lost else [])]
    background = background_of(engine, call, run, planned, profile, directory, notices, told=told)
    until = planned.request.until
    return replace(
        background,
        preview=preview.text,
        why=waited.why,
        event=f"{until}" if waited.why == "event" else None,
        elapsed=run.elapsed,
        notices=background.notices if waited.notice is None else (*background.notices, waited.notice),
    )


def _size_of(directory: Path) -> int:
    """Return how much output the file of a new job holds."""
    try:
        return files(str(directory.parent)).call(os.path.getsize, directory / record.OUTPUT)
    except OSError:
        return 0


def background_of(
    engine: Engine,
    call: str,
    run: Run,
    planned: Plan,
    profile: Profile,
    directory: Path,
    notices: list[str],
    *,
    told: int = 0,
) -> Background:
    """Log that the call has become a job, and tell it; viewers read its file from the byte on that they were told."""
    job_id, request, pid = directory.name, planned.request, run.pid or 0
    if engine.log.viewing is not None:
        engine.log.viewing.publisher.leave(call, jobId=job_id, jobPid=pid, offset=told)
    problem = engine.log.add(call, profile, planned, {"outcome": "background", "jobId": job_id, "pid": pid})
    if engine.confining is not None:
        notices = [*notices, *engine.confining.introduction(planned)]
    return Background(
        sandbox=None if planned.command.sandbox is None else planned.command.sandbox.facts,
        job_id=job_id,
        pid=pid,
        output_file=str(directory / record.OUTPUT),
        label=planned.label,
        timeout=planned.limit,
        requested_timeout=request.requested_timeout,
        notices=(*request.notices, *notices, *([problem] if problem else [])),
    )


def selection_notices(request: ShellRequest) -> list[str]:
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
    notices = selection_notices(request)
    if preview.truncation is not None:
        notices.append(f"Output so far: {human_size(preview.total_bytes)}, of which the newest lines are shown")
    if request.until is not None and why == "window":
        notices.append(f"This has not happened yet: {request.until}")
    if request.lifted is not None and request.lifted.side:
        whole = capture.end_side()
        where = f"; all output until now is artifact://{whole.id}" if whole is not None else ""
        notices.append(f"The job keeps what `{request.lifted.stage}` selects{where}")
    return notices


async def adopt(engine: Engine, run: Run, planned: Plan, profile: Profile) -> tuple[str | None, str | None]:
    """Make what the finished command left running a job of its own; its id, or why there is none."""
    command = planned.redactor.redact_text(" ".join(run.survivors[0].argv))
    facts = {"command": command, "label": command[:120], "timeout": None, "from": planned.label}
    try:
        job, directory, _ = await new_job(engine, call_ids.new(), planned, profile, **facts)
        try:
            await run.adopt(job)
        except NacreError:
            engine.jobs.discard(directory)
            raise
    except (JobError, BackendError) as error:
        return None, f"what it left running could not be kept as a job: {error}"
    return directory.name, None


async def new_job(
    engine: Engine, call: str, planned: Plan, profile: Profile, **facts: Any
) -> tuple[NewJob, Path, list[str]]:
    """A new job, its directory, named as the job, and notices.

    Raises:
        JobLimitError: too many run already.
        JobError: the state directory cannot be used, or has no room.
    """
    owner = planned.request.owner or Owner(session=None, directory=planned.command.cwd)
    project = await project_of(owner.directory)
    settings = engine.settings.jobs
    notices: list[str] = []
    engine.jobs.prune_seldom(max_age_seconds=settings.job_hours * 3600)
    job_id, directory = engine.jobs.allot(most=settings.max_jobs, notices=notices)
    first = {
        "id": job_id,
        "call": call,
        "command": planned.logged_command,
        "label": planned.label,
        "cwd": planned.command.cwd,
        "contract": profile.contract,
        "timeout": planned.limit,
        "startedAt": time.time(),
        "completionLine": profile.completion_line,
        "ownerPid": os.getpid(),
        "ownerStart": children.start_time(os.getpid()),
        **facts,
        "session": owner.session,
        "project": project,
    }
    if planned.command.terminal is not None:
        first["terminal"] = True
    if engine.remote:
        first["remote"] = True
    if planned.command.stages and "from" not in facts:
        first["answering"] = answering_stages(planned.request.command)
    sandbox = planned.command.sandbox
    job = NewJob(
        directory=str(directory),
        head_bytes=settings.job_head_bytes,
        cap_bytes=settings.job_cap_bytes,
        hidden=tuple(planned.redactor.to_forms()),
        record=first,
        records=planned.command.terminal is not None and engine.settings.pty.record,
        refusals="" if sandbox is None else sandbox.message.get("refusals", ""),
    )
    engine.jobs.reserve(directory, first)
    return job, directory, notices


def _make_fifo(directory: Path) -> Path:
    """The standard input of a job that can be written to, from any process of the same user."""
    path = directory / "stdin"
    try:
        files(str(directory.parent)).call(os.mkfifo, path, 0o600)
    except OSError as error:
        raise JobError(f"the job's standard input could not be made: {error.strerror}") from error
    return path
