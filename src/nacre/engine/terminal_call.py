"""A call in the foreground whose command has a terminal: a job from its first byte that the call waits for.

Other processes see the terminal and type into it by the job's files, so nothing is handed over when it is kept.
Until then it dies with this program, and a call that ends in the foreground leaves no job.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path

from nacre.engine.background import background_of, look_for_start, new_job, plan_apart, selection_notices
from nacre.engine.call_log import measures
from nacre.engine.call_origin import CallOrigin
from nacre.engine.capture import Capture, Nowhere
from nacre.engine.engine import Engine
from nacre.engine.execute import LATER_SECONDS, conclude
from nacre.engine.observers import Observers
from nacre.engine.run import WATCHDOG_SECONDS, Run
from nacre.engine.summary import Finished
from nacre.engine.wait import TO_THE_END, Kept, WaitPolicy
from nacre.errors import ArtifactError, NacreError
from nacre.jobs import job_terminal
from nacre.jobs.job import Job
from nacre.jobs.notices import claim, give_back
from nacre.kept_command import Background, Waiting
from nacre.planning.plan import Plan
from nacre.profile import Profile
from nacre.request import ShellRequest
from nacre.result import ShellResult
from nacre.warden import record
from nacre.warden.recording import CAP_BYTES
from nacre.warden.recording import NAME as RECORDING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.engine.attendant import Attendant
    from nacre.engine.live import LiveTail

# How often the job's files are looked at.
TICK_SECONDS = 0.03
STATE_SECONDS = 0.1
READ_BYTES = 64 * 1024
# Of one turn: a flood leaves the event loop to others in between.
TURN_BYTES = 16 * 1024 * 1024
# How much is shown before the runner is told.
TOLD_BYTES = 32 * 1024
OWN_SHELL = "a command on a terminal has a shell of its own: a copy of the session's state, whose changes are not kept"

DETACHED = "a person detached it from the console, so that it goes on as a job"


async def run_on_terminal(
    engine: Engine, request: ShellRequest, profile: Profile, origin: CallOrigin, attendant: Attendant | None = None
) -> ShellResult | Background:
    """Run the command on a terminal; return its result, or the job that it has become.

    Args:
        attendant: shows the terminal and answers its prompts; without one a command that waits for input is kept.

    Raises:
        JobError: there is no room for a job; nothing was started.
    """
    cwd, session, policy, observers = origin
    if session is not None:
        request = replace(request, notices=(*request.notices, OWN_SHELL))
    call, planned, undo = await plan_apart(engine, request, profile, cwd=cwd, session=session)
    try:
        result = await _run(engine, call, planned, profile, policy or TO_THE_END, observers, attendant)
    except (NacreError, asyncio.CancelledError) as error:
        engine.log.add_failure(profile, planned, error, call=call)
        if undo is not None:
            await undo.ended()
        raise
    return result if undo is None else await undo.after(result)


async def _run(
    engine: Engine,
    call: str,
    planned: Plan,
    profile: Profile,
    policy: WaitPolicy,
    observers: Observers,
    attendant: Attendant | None,
) -> ShellResult | Background:
    job, directory, notices = await new_job(engine, call, planned, profile)
    attended = TerminalCall(engine, call, planned, profile, directory, observers, attendant)
    try:
        backend = engine.backend_for(profile)
        run = Run.start(backend, planned.command, Nowhere(), job=job._replace(attended=True))
        try:
            return await attended.wait(run, policy, notices)
        except asyncio.CancelledError as error:
            await run.end()
            attended.log_cancelled(run, error)
            raise
        finally:
            run.release()
    except (NacreError, asyncio.CancelledError):
        engine.jobs.discard(directory)
        raise
    finally:
        attended.close()


class TerminalCall:
    """The near side of one such call."""

    def __init__(
        self,
        engine: Engine,
        call: str,
        planned: Plan,
        profile: Profile,
        directory: Path,
        observers: Observers,
        attendant: Attendant | None,
    ) -> None:
        self._engine = engine
        self._call = call
        self._planned = planned
        self._profile = profile
        self._directory = directory
        self._live: LiveTail | None = observers.live
        self._capture: Capture | None = Capture(engine.artifacts, profile, engine.settings, planned, observers)
        self._attendant = attendant
        self._fd: int | None = None
        self._seen = self._told = 0
        """How much of the job's file was read, and told to be shown."""
        self._buffer = bytearray(READ_BYTES)
        self._detached = False
        self._job: Job | None = None
        """The job, once it has started."""

    def _detach(self) -> None:
        """Leave it as a job: a person closed its console with the detach key."""
        self._detached = True

    def log_cancelled(self, run: Run, error: asyncio.CancelledError) -> None:
        """Log a cancelled call with its time and its sizes, as of any command."""
        if self._capture is None or self._job is None:
            return
        self._read(self._job)
        outputs, _ = self._capture.outputs()
        facts = measures(run.elapsed, outputs)
        self._engine.log.add_failure(self._profile, self._planned, error, call=self._call, **facts)

    async def wait(self, run: Run, policy: WaitPolicy, notices: list[str]) -> ShellResult | Background:
        if not await run.announced():
            look_for_start(run, self._directory)
        job = self._job = self._engine.jobs.get(self._directory.name)
        # Its end is told by this call.
        claim(job)
        if self._live is not None:
            self._live.place_job(job.id)
        if (viewing := self._engine.log.viewing) is not None:
            assert self._capture is not None
            viewing.show_output(self._call, self._capture)
            viewing.on_terminal(self._call, job, run, self._detach)
        if self._attendant is not None:
            self._attendant.opened(job)
            job_terminal.show(job, 0)
        if (limit := self._planned.command.timeout) is not None and not run.over:
            run.watch.expect_answer(limit + self._planned.command.grace + WATCHDOG_SECONDS, starts_only=False)
        why, waiting = await self._until_over(run, job, policy)
        assert self._capture is not None
        if why is not None:
            return self._kept(run, job, why, waiting, notices)
        await self._read_rest(job)
        ending = await run.wait()
        await run.settle()
        capture, self._capture = self._capture, None
        recording = self._keep_recording()
        finished = Finished(run, ending, self._planned, self._profile, capture, before=notices)
        result = conclude(self._engine, self._call, finished, recording=recording)
        self._engine.jobs.discard(self._directory)
        return result

    async def _until_over(self, run: Run, job: Job, policy: WaitPolicy) -> tuple[Kept | None, Waiting | None]:
        """Follow the output until the end, the window or a wait for input; why it is to be kept, if it is."""
        loop = asyncio.get_running_loop()
        window = policy.after(self._planned.waited).window
        end = None if window is None else loop.time() + window
        over = run.watch.until_over()
        look_at = loop.time() + LATER_SECONDS
        ask_at = 0.0
        asked: Waiting | None = None
        while not over.done():
            await asyncio.wait([over], timeout=TICK_SECONDS if self._attendant is None else self._attendant.pace)
            self._read(job)
            if over.done():
                break
            if loop.time() >= ask_at:
                ask_at = loop.time() + STATE_SECONDS
                state = job_terminal.state(job)
                waiting = None if state is None else state.waiting
                answered = self._attendant is not None or self._planned.request.answered
                if waiting is not None and not answered:
                    return "waiting", waiting
                if waiting != asked:
                    asked = waiting
                    if self._attendant is not None:
                        self._attendant.asks(waiting)
                    if (viewing := self._engine.log.viewing) is not None:
                        viewing.tell_waiting(self._call, waiting)
            if self._detached and self._attendant is None:
                return "detached", None
            if loop.time() >= look_at:
                look_at = loop.time() + LATER_SECONDS
                self._show_late(run, job)
            if end is not None and loop.time() >= end:
                return "window", None
        return None, None

    def _show_late(self, run: Run, job: Job) -> None:
        """Show the call to viewers that came after its begin."""
        viewing = self._engine.log.look_for_viewers()
        if viewing is None or self._capture is None:
            return
        known = viewing.publisher.is_shown(self._call)
        viewing.join(self._call, self._profile, self._planned, run, self._capture)
        if not known:
            viewing.on_terminal(self._call, job, run, self._detach)

    def _read(self, job: Job) -> bool:
        """Give the capture, and what attends, what the job's file has more than before; False if there is no more."""
        assert self._capture is not None
        if self._fd is None:
            try:
                self._fd = os.open(self._directory / record.OUTPUT, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            except FileNotFoundError:
                return False  # removed in use: the result shows what was read
        attendant, end = self._attendant, self._seen + TURN_BYTES
        while self._seen < end and (attendant is None or attendant.room):
            size = os.readv(self._fd, [self._buffer])
            if not size:
                break
            self._seen += size
            self._capture.feed(1, self._buffer, size)
            if attendant is not None:
                attendant.show(bytes(memoryview(self._buffer)[:size]))
        else:
            size = 1
        if attendant is not None and attendant.room and self._seen - self._told >= TOLD_BYTES:
            self._told = self._seen
            job_terminal.show(job, self._seen)
        return size > 0

    async def _read_rest(self, job: Job) -> None:
        """Read what is left when it is over, as fast as it is shown; if it is not taken, it is kept all the same."""
        while self._read(job):
            if self._attendant is not None and not await self._attendant.drained():
                self._attendant = None
            await asyncio.sleep(0)

    def _kept(self, run: Run, job: Job, why: Kept, waiting: Waiting | None, notices: list[str]) -> Background:
        """Leave the job to itself; what waits for it is told its end as of any job."""
        assert self._capture is not None
        run.leave_running()
        give_back(job)
        preview = self._capture.preview()
        notices = [*selection_notices(self._planned.request), *notices, *([DETACHED] if why == "detached" else [])]
        background = background_of(
            self._engine, self._call, run, self._planned, self._profile, self._directory, notices, told=self._seen
        )
        return replace(background, preview=preview.text, why=why, waiting_for=waiting, elapsed=run.elapsed)

    def _keep_recording(self) -> int | None:
        """Keep the recording as an artifact, as the job's directory goes; None where there is none."""
        try:
            fd = os.open(self._directory / RECORDING, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            writer = self._engine.artifacts.create("recording", cap_bytes=2 * CAP_BYTES, head_bytes=CAP_BYTES)
            while data := os.read(fd, READ_BYTES):
                writer.write(data)
            kept = writer.close()
            return None if kept is None else kept.id
        except ArtifactError:
            return None  # optional; the output has told the same problem
        finally:
            os.close(fd)

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
        if self._capture is not None:
            self._capture.close()
            self._capture = None
