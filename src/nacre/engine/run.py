"""A started command, watched from its first byte to its end; the same for every caller, however long it waits.

Completion is the shell's exit, not the end of the pipe: after the exit the pipe gets a short drain, and what still
holds it is named instead of waited for.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol, TypeVar

from nacre.backend import AttendedProcess, Backend, Ending, Process, Survivor
from nacre.backends.inline_wait import LoopUse, use_of
from nacre.command import Command, NewJob
from nacre.errors import BackendError, NacreError, StartError
from nacre.warden.protocol import DRAIN_SECONDS, SILENCE_SECONDS

T = TypeVar("T")

# The longest wait for the far side after the last step of the ladder; then the command is reported without its answer.
WATCHDOG_SECONDS = 0.9
# How long a start may take where the command's own limit is longer; a working directory may not answer.
START_SECONDS = 10.0


class Sink(Protocol):
    """Where the output goes."""

    def feed(self, stream: int, buffer: bytearray, size: int) -> None: ...


class EndWatch:
    """Listens to a command and decides when it is over. Creates no timer and no future until one is needed.

    Five of its methods are a Listener; the others are its timer and its waiting futures.
    """

    def __init__(self, command: Command, sink: Sink, loop: asyncio.AbstractEventLoop) -> None:
        self.pid: int | None = None
        self.over = False
        self.ending: Ending | None = None
        self.error: NacreError | None = None
        """Why nothing was started, if nothing was."""
        self.held = False
        """True if something still held the pipe when the reading ended."""
        self.open = {1} if command.streams == "merged" else {1, 2}
        """The streams whose end has not been seen."""
        self.began = time.monotonic()
        self.ended = 0.0
        self.sink = sink
        self.loop = loop
        self._last_output = 0.0
        self._wrote = False
        """True once output has come: the shell has started, even if its pid was not told."""
        self.timer: asyncio.TimerHandle | None = None
        self._awaiting_start: list[asyncio.Future[None]] = []
        self._awaiting_end: list[asyncio.Future[None]] = []

    # What the backend tells.

    def output(self, stream: int, buffer: bytearray, size: int) -> None:
        self._wrote = True
        if self.ending is not None:
            self._last_output = self.loop.time()
        self.sink.feed(stream, buffer, size)

    def closed(self, stream: int) -> None:
        self.open.discard(stream)
        if self.ending is not None and not self.open and not self.over:
            self._finish()

    def started(self, pid: int) -> None:
        self.pid = pid
        if self._awaiting_start:
            _wake(self._awaiting_start)

    def exited(self, ending: Ending) -> None:
        if self.over:
            return
        if self.pid is None:
            self.pid = ending.pid or 0
        self.ending = ending
        self.ended = time.monotonic()
        if not self.open or ending.unkillable:
            # What cannot be killed writes no more, and its time is up.
            self._finish()
            return
        if self._awaiting_start:
            _wake(self._awaiting_start)
        now = self._last_output = self.loop.time()
        self._drain(now + DRAIN_SECONDS)

    def failed(self, error: NacreError) -> None:
        if not self.over:
            self.error = error
            self._finish()

    # The end.

    def _drain(self, latest: float) -> None:
        now = self.loop.time()
        due = min(self._last_output + SILENCE_SECONDS, latest)
        if now >= due:
            self.held = True
            self._finish()
        else:
            self.set_timer(due - now, lambda: self._drain(latest))

    def _finish(self) -> None:
        self.over = True
        if self.timer is not None:
            self.clear_timer()
        if self._awaiting_start:
            _wake(self._awaiting_start)
        if self._awaiting_end:
            _wake(self._awaiting_end)

    def expect_answer(self, seconds: float, *, starts_only: bool) -> None:
        """Report the command as lost if the far side says nothing for so long, or as not started."""

        def overdue() -> None:
            # Hear first what has come: a host that was stopped finds its timers due before it looks at its sockets.
            if starts_only and self.pid is not None:
                return
            self.set_timer(0.0, self._unanswered)

        self.set_timer(seconds, overdue)

    def _unanswered(self) -> None:
        if self.pid is None and not self._wrote:
            self.failed(StartError(f"the shell did not start within {time.monotonic() - self.began:.1f} s"))
            return
        reason = "its runner did not answer; processes of the command may be left"
        self.exited(Ending(pid=self.pid, why="timeout", forced=True, left=True, lost=reason))
        if not self.over:
            # Its pipe was read all the time, and the time is up.
            self._finish()

    def set_timer(self, seconds: float, action: Callable[[], None]) -> None:
        self.clear_timer()
        self.timer = self.loop.call_later(seconds, action)

    def clear_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def begin_again(self) -> None:
        """Wait for a second end, of what the finished command left running."""
        self.over, self.held, self.ending, self.open = False, False, None, set()

    def until_started(self) -> asyncio.Future[None]:
        """Done when the shell has started, or the command is over."""
        return self._future(self._awaiting_start, done=self.over or self.pid is not None)

    def until_over(self) -> asyncio.Future[None]:
        """Done when the command is over; cancelling it ends nothing."""
        return self._future(self._awaiting_end, done=self.over)

    def _future(self, waiting: list[asyncio.Future[None]], *, done: bool) -> asyncio.Future[None]:
        future: asyncio.Future[None] = self.loop.create_future()
        if done:
            future.set_result(None)
        else:
            waiting.append(future)
        return future


def _wake(waiting: list[asyncio.Future[None]]) -> None:
    for future in waiting:
        if not future.done():
            future.set_result(None)
    waiting.clear()


async def until_done(task: asyncio.Task[T]) -> None:
    """Wait for a task, whatever happens to the caller meanwhile."""
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            continue  # cancelled again: what is being ended is ended first


class Run:
    """A command that was started by `start`; its methods are the controls for every way of waiting."""

    def __init__(self, command: Command, watch: EndWatch) -> None:
        self.command = command
        self.started_at = time.time()
        self.watch = watch
        self.survivors: tuple[Survivor, ...] = ()
        self.overspent = False
        """Whether it has printed more than its budget allows."""
        self.later: asyncio.TimerHandle | None = None
        """Looks at something while the command runs, and is cancelled with its release."""
        self._process: Process | None = None
        self._use: LoopUse | None = None

    @classmethod
    def start(cls, backend: Backend, command: Command, sink: Sink, *, job: NewJob | None = None) -> Run:
        """Start the command; with `job` the far side keeps it from its first byte on."""
        watch = EndWatch(command, sink, asyncio.get_running_loop())
        run = cls(command, watch)
        if command.budget is not None and command.budget.output_bytes is not None:
            from nacre.engine.spent_budget import OutputMeter

            watch.sink = OutputMeter(run, sink, command.budget.output_bytes)
        if job is not None:
            watch.open = set()
        run._process = backend.start(command, watch, job=job)
        if watch.over:
            return run
        # While it is attended here, no other start may block the loop.
        run._use = use_of(watch.loop)
        run._use.calls += 1
        # A backend that starts commands in this very process needs no watchdog: it would hang with what it watches.
        if backend.keeps and watch.ending is None:
            # A job is not waited for, and without a limit a command has no end to be expected: the start has.
            limit = command.timeout
            if job is not None or limit is None:
                seconds = START_SECONDS if limit is None else min(limit, START_SECONDS)
                watch.expect_answer(seconds + WATCHDOG_SECONDS, starts_only=True)
            else:
                watch.expect_answer(limit + command.grace + WATCHDOG_SECONDS, starts_only=False)
        return run

    @property
    def pid(self) -> int | None:
        return self.watch.pid

    @property
    def over(self) -> bool:
        return self.watch.over

    @property
    def elapsed(self) -> float:
        return (self.watch.ended or time.monotonic()) - self.watch.began

    def ending(self) -> Ending:
        """How a command that is over ended; raises what kept it from starting."""
        if self.watch.error is not None:
            raise self.watch.error
        assert self.watch.ending is not None
        return self.watch.ending

    async def announced(self) -> int:
        """The shell's pid, once it is known."""
        await self.watch.until_started()
        if self.watch.error is not None:
            raise self.watch.error
        return self.watch.pid or 0

    async def wait(self) -> Ending:
        """Wait for the end. If the waiting is cancelled, everything is stopped before the cancellation goes on."""
        if not self.watch.over:
            try:
                await self.watch.until_over()
            except asyncio.CancelledError:
                await self.end()
                raise
        if self.watch.error is not None or self.watch.ending is None:
            return self.ending()
        return self.watch.ending

    async def end(self) -> None:
        """Stop everything and wait until it is gone, whatever happens to the caller meanwhile."""
        await self._end_running()
        # A command that has ended in the same moment may have left processes running.
        settling = asyncio.ensure_future(self.settle())
        await until_done(settling)
        settling.result()
        await self.sweep()

    async def _end_running(self) -> None:
        self.stop()
        loop = asyncio.get_running_loop()
        end = loop.time() + self.command.grace + WATCHDOG_SECONDS
        while not self.watch.over and (left := end - loop.time()) > 0:
            try:
                await asyncio.wait([self.watch.until_over()], timeout=left)
            except asyncio.CancelledError:
                continue  # cancelled again: the kill under way is finished first

    def stop(self) -> None:
        if self._process is not None and not self.watch.over:
            self._process.stop()

    async def settle(self) -> None:
        """After the end: find out what is left."""
        assert self._process is not None
        ending = self.watch.ending
        if ending is not None and ending.left and ending.why is None:
            self.survivors = await self._process.survivors()

    async def let_go(self) -> None:
        """Leave the survivors' pipe read by the far side, so that they do not die of SIGPIPE."""
        if self._process is not None and self.survivors:
            try:
                await self._process.keep(None)
            except BackendError:
                return  # the last survivor has ended meanwhile, or its runner has: the command's result stands

    async def sweep(self) -> None:
        """After the end: stop what is left, and wait until it is gone."""
        if self.survivors:
            self.watch.begin_again()
            await self._end_running()
            self.survivors = ()

    def pause(self) -> None:
        """Read no more here: what comes next is read by the far side."""
        assert self._process is not None
        self._process.pause()

    async def keep(self, job: NewJob) -> None:
        """Make the running command a job: the far side reads its output from here on."""
        assert self._process is not None
        self.watch.clear_timer()
        self.watch.open = set()
        await self._process.keep(job)

    def leave_running(self) -> None:
        """Have a job that was attended go on without this program."""
        process: AttendedProcess = self._process  # type: ignore[assignment]
        process.leave_running()
        self.watch.clear_timer()

    async def adopt(self, job: NewJob) -> None:
        """Make the survivors of the finished command a job; `wait` then waits for its end."""
        assert self._process is not None
        self.watch.begin_again()
        await self._process.keep(job, adopt=self.survivors[0].pid)

    def release(self) -> None:
        """Give everything back; what still runs in the foreground is ended by that."""
        if self.watch.timer is not None:
            self.watch.clear_timer()
        if self.later is not None:
            self.later.cancel()
        if self._use is not None:
            self._use.calls -= 1
            self._use = None
        process, self._process = self._process, None
        if process is not None:
            process.release()
