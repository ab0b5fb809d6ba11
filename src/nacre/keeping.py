"""Commands that outlive their call: wait a while, then keep; adopt what a finished one left running.

The same run, whoever waits for it: keeping only moves the reading of its pipe to the far side, at the very byte where
the caller stopped. Nothing is restarted, nothing is lost in between.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from nacre.engine import Engine
from nacre.errors import BackendError, JobError, NacreError
from nacre.execution.capture import Capture
from nacre.execution.event import happened
from nacre.execution.live import LiveTail
from nacre.execution.run import Run
from nacre.output.decode import decode, trim_tail
from nacre.output.escapes import strip
from nacre.output.lines import settle
from nacre.planning.plan import Plan
from nacre.profile import Background, Profile
from nacre.request import ShellRequest
from nacre.result import ShellResult
from nacre.until import Until
from nacre.warden import record

Kept = Literal["window", "event"]


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a call waits for its command before it is kept as a job."""

    window: float | None
    """Seconds; None waits to the end."""
    until: Until | None = None
    """Or this, whichever comes first."""


async def run_or_keep(
    engine: Engine,
    request: ShellRequest,
    profile: Profile,
    *,
    cwd: str,
    patience: Patience,
    live: LiveTail | None = None,
) -> ShellResult | Background:
    """Run the command; return its result, or the job it became while we waited."""
    planned = await engine.prepare(request, profile, cwd=cwd)
    capture = engine.capture(planned, profile, live=live)
    try:
        return await _run(engine, planned, profile, capture, patience)
    except NacreError as error:
        engine.log(profile, planned, {"outcome": "not started", "error": str(error)})
        raise
    finally:
        capture.close()


async def _run(
    engine: Engine, planned: Plan, profile: Profile, capture: Capture, patience: Patience
) -> ShellResult | Background:
    backend = engine.backend_for(profile)
    run = Run.start(backend, planned.command, capture)
    try:
        why = await _wait(run, capture, patience, can_keep=backend.keeps)
        refusal = None
        if why is not None:
            try:
                return await _keep(engine, run, planned, profile, capture, why)
            except JobError as error:
                # No room for another job: then the call waits to the end after all, and says why.
                refusal = f"it could not go on in the background: {error}"
        result = await _finish(engine, run, planned, profile, capture, backend.notice)
    except asyncio.CancelledError:
        engine.log(profile, planned, {"outcome": "stopped", "durationMs": round(run.elapsed * 1000, 3)})
        raise
    finally:
        run.release()
    notices = [refusal] if refusal else []
    if patience.until is not None:
        notices.append(f"the command ended before this happened: {patience.until}")
    return replace(result, notices=(*notices, *result.notices)) if notices else result


async def _wait(run: Run, capture: Capture, patience: Patience, *, can_keep: bool) -> Kept | None:
    """Wait for the end, the event or the window; None when it has ended or cannot be kept."""
    if not can_keep:
        await run.wait()
        return None
    waiting: list[asyncio.Future[Any]] = [run.finished]
    event: asyncio.Task[None] | None = None
    if patience.until is not None:
        event = asyncio.create_task(happened(patience.until, capture, cwd=run.command.cwd))
        waiting.append(event)
    try:
        await asyncio.wait(waiting, timeout=patience.window, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        await run.end()
        raise
    finally:
        came = event is not None and event.done()
        if event is not None:
            event.cancel()
            await asyncio.wait([event])
    if run.finished.done():
        return None
    return "event" if came else "window"


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
    job_id, directory = engine.allot_job()
    spec = engine.job_spec(planned, profile, job_id, directory)
    spec["record"]["startedAt"] = run.started_at
    preview = settle(strip(decode(trim_tail(capture.preview()))))
    try:
        run.pause()
        spec["held"] = capture.hand_over(str(directory / record.OUTPUT)).decode("latin-1")
        await run.keep(spec)
    except (OSError, NacreError) as error:
        # Its output is on the way from one reader to another: there is no way back to the foreground.
        await run.end()
        engine.jobs.discard(directory)
        raise JobError(f"{job_id} could not be kept and was stopped: {error}") from error
    problem = engine.log(profile, planned, {"outcome": "background", "jobId": job_id, "pid": run.pid})
    return _background(planned, job_id, directory, run, preview, why, problem)


def _background(
    planned: Plan, job_id: str, directory: Path, run: Run, preview: str, why: Kept, problem: str | None
) -> Background:
    request = planned.request
    happening = f"{request.until}" if why == "event" else None
    return Background(
        job_id=job_id,
        pid=run.pid or 0,
        output_file=str(directory / record.OUTPUT),
        preview=preview,
        why=why,
        event=happening,
        label=planned.label,
        elapsed=run.elapsed,
        timeout=planned.command.timeout,
        requested_timeout=request.requested_timeout,
        notices=(*request.notices, *([problem] if problem else [])),
    )


async def _adopt(engine: Engine, run: Run, planned: Plan, profile: Profile) -> str:
    """Make what the finished command left running a job of its own."""
    job_id, directory = engine.allot_job()
    spec = engine.job_spec(planned, profile, job_id, directory)
    survivor = run.survivors[0]
    command = planned.redactor.redact_text(" ".join(survivor.argv))
    spec["record"] |= {"command": command, "label": command[:120], "timeout": None, "from": planned.label}
    try:
        await run.adopt(spec)
    except NacreError:
        engine.jobs.discard(directory)
        raise
    return job_id
