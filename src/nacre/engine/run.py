"""One body for running: a started command, watched from its first byte to its end.

Foreground is background that somebody waits for: wait for the run, keep it, or wait a while and then keep it.
Completion is the shell's exit, not the end of the pipe: after the exit the pipe gets a short drain, and what still
holds it is named instead of waited for.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any, Protocol

from nacre.backend import Backend, Ending, Process, Survivor
from nacre.command import Command
from nacre.errors import BackendError, NacreError, StartError
from nacre.warden.protocol import DRAIN_SECONDS, SILENCE_SECONDS

# When the far side owes an answer for this long after the last moment of the ladder, we answer without it.
WATCHDOG_SECONDS = 0.9
# How long a start may take where the command's own limit is longer; a working directory may not answer.
START_SECONDS = 10.0


class Sink(Protocol):
    """Where the output goes."""

    def feed(self, stream: int, buffer: bytearray, size: int) -> None: ...


class Run:
    """A command that was started. Build it with `start`."""

    def __init__(self, command: Command, sink: Sink) -> None:
        self.command = command
        self.started_at = time.time()
        self.pid: int | None = None
        self.survivors: tuple[Survivor, ...] = ()
        self.held = False
        """Whether something still held the pipe when the reading ended."""
        self._sink = sink
        self._loop = asyncio.get_running_loop()
        self._began = time.monotonic()
        self._ended: float | None = None
        self._ending: Ending | None = None
        self._open = {1} if command.streams == "merged" else {1, 2}
        self._last_output = 0.0
        self._wrote = False
        """Whether any output has come: then the shell has started, also where its pid was not told."""
        self.finished: asyncio.Future[Ending] = self._loop.create_future()
        """Done at the end; to be waited for without ending anything, unlike `wait`."""
        self._announced: asyncio.Future[int] = self._loop.create_future()
        self._waiter: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._watch_start = False
        """Whether the watchdog is for the start alone: a job is not waited for, and without a limit it has no end."""
        self._process: Process | None = None

    @classmethod
    def start(cls, backend: Backend, command: Command, sink: Sink, *, job: Mapping[str, Any] | None = None) -> Run:
        """Start the command; with `job` the far side keeps it from its first byte on."""
        run = cls(command, sink)
        if job is not None:
            run._open = set()
        # A backend that starts commands in this very process needs no watchdog: it would hang with what it watches.
        if backend.keeps:
            run._watch_start = job is not None or command.timeout is None
            run._set_timer(run._patience(), run._overdue)
        try:
            run._process = backend.start(command, run, job=job)
        except BaseException:
            run._clear_timer()
            raise
        return run

    # What the backend tells.

    def output(self, stream: int, buffer: bytearray, size: int) -> None:
        self._wrote = True
        if self._ending is not None:
            self._last_output = self._loop.time()
        self._sink.feed(stream, buffer, size)

    def closed(self, stream: int) -> None:
        self._open.discard(stream)
        if not self._open and self._ending is not None:
            self._finish()

    def started(self, pid: int) -> None:
        self.pid = pid
        if self._watch_start:
            self._watch_start = False
            self._clear_timer()
        if not self._announced.done():
            self._announced.set_result(pid)

    def exited(self, ending: Ending) -> None:
        if self.finished.done():
            return
        self.started(ending.pid or 0)
        self._ending = ending
        self._ended = time.monotonic()
        self._clear_timer()
        if not self._open or ending.unkillable:
            # What cannot be killed writes no more, and its time is up.
            self._finish()
            return
        now = self._last_output = self._loop.time()
        self._drain(now + DRAIN_SECONDS)

    def failed(self, error: NacreError) -> None:
        self._clear_timer()
        for future in (self.finished, self._announced):
            if not future.done():
                future.set_exception(error)
                future.exception()  # whichever of the two nobody awaits must not complain
        self._wake()

    # The end.

    def _drain(self, latest: float) -> None:
        now = self._loop.time()
        due = min(self._last_output + SILENCE_SECONDS, latest)
        if now >= due:
            self.held = True
            self._finish()
        else:
            self._set_timer(due - now, lambda: self._drain(latest))

    def _finish(self) -> None:
        self._clear_timer()
        if not self.finished.done() and self._ending is not None:
            self.finished.set_result(self._ending)
            self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _patience(self) -> float:
        """How long the far side may take to answer."""
        limit = self.command.timeout
        if self._watch_start:
            return (START_SECONDS if limit is None else min(limit, START_SECONDS)) + WATCHDOG_SECONDS
        assert limit is not None
        return limit + self.command.grace + WATCHDOG_SECONDS

    def _overdue(self) -> None:
        """Hear first what has come: a host that was stopped finds its timers due before it looks at its sockets."""
        self._set_timer(0.0, self._unanswered)

    def _unanswered(self) -> None:
        if self.pid is None and not self._announced.done() and not self._wrote:
            self.failed(StartError(f"the shell did not start within {self.elapsed:.1f} s"))
            return
        reason = "its runner did not answer; processes of the command may be left"
        self.exited(Ending(pid=self.pid, why="timeout", forced=True, left=True, lost=reason))

    def _set_timer(self, seconds: float, action: Any) -> None:
        self._clear_timer()
        self._timer = self._loop.call_later(seconds, action)

    def _clear_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # What the caller may do.

    @property
    def elapsed(self) -> float:
        return (self._ended or time.monotonic()) - self._began

    async def announced(self) -> int:
        """The shell's pid, once it is known."""
        return await asyncio.shield(self._announced)

    async def wait(self) -> Ending:
        """Wait for the end. If the waiting is cancelled, everything is stopped before the cancellation goes on."""
        if not self.finished.done():
            # A future of its own, so that a cancelled wait does not cancel the end; shielding would cost a turn more.
            self._waiter = self._loop.create_future()
            try:
                await self._waiter
            except asyncio.CancelledError:
                await self.end()
                raise
        return self.finished.result()

    async def end(self) -> None:
        """Stop everything and wait until it is gone, whatever happens to the caller meanwhile."""
        self.stop()
        end = self._loop.time() + self.command.grace + WATCHDOG_SECONDS
        while not self.finished.done() and (left := end - self._loop.time()) > 0:
            try:
                await asyncio.wait([self.finished], timeout=left)
            except asyncio.CancelledError:
                continue  # cancelled again: the kill under way is finished first
        if self.finished.done():
            self.finished.exception()

    def stop(self) -> None:
        if self._process is not None and not self.finished.done():
            self._process.stop()

    async def settle(self) -> None:
        """After the end: find out what is left."""
        assert self._process is not None
        if self._ending is not None and self._ending.left and self._ending.why is None:
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
            self.finished = self._loop.create_future()
            self._ending = None
            self._open = set()
            await self.end()
            self.survivors = ()

    def pause(self) -> None:
        """Read no more here: what comes next is for whoever takes over."""
        assert self._process is not None
        self._process.pause()

    async def keep(self, job: Mapping[str, Any]) -> None:
        """Make the running command a job: the far side reads its output from here on."""
        assert self._process is not None
        self._clear_timer()
        self._open = set()
        await self._process.keep(job)

    async def adopt(self, job: Mapping[str, Any]) -> None:
        """Make the survivors of the finished command a job; `wait` then waits for its end."""
        assert self._process is not None
        self.finished = self._loop.create_future()
        self._ending = None
        self._open = set()
        await self._process.keep(job, adopt=self.survivors[0].pid)

    def release(self) -> None:
        """Give everything back; what still runs in the foreground is ended by that."""
        self._clear_timer()
        if self._process is not None:
            self._process.release()
            self._process = None
        for future in (self.finished, self._announced):
            if not future.done():
                future.cancel()
