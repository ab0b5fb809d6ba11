"""Commands started by this process itself: the stated fallback where no warden can run.

Everything holds except containment: a process that leaves the command's session (setsid, a daemon) is found only
while it still descends from the shell or carries its mark in the environment, and jobs cannot outlive the program.
"""

from __future__ import annotations

import asyncio
import os
import signal

from nacre.backend import Ending, Listener, PipesOnly, Process, Survivor, no_terminal
from nacre.backends.child import Child, start_child
from nacre.backends.exit_watch import HAS_PIDFD, watch_exit
from nacre.backends.inline_wait import INLINE_MILLISECONDS, can_block_briefly, tell_end, tell_output
from nacre.backends.pipes import StreamReaders
from nacre.backends.start_errors import start_error
from nacre.command import Command, NewJob
from nacre.errors import BackendUnavailableError, StartError
from nacre.warden.protocol import KILL_SECONDS

# After SIGKILL: how often to look.
KILL_LOOK_SECONDS = 0.01


class DirectBackend:
    keeps = False

    def __init__(self, reason: str | None = None, *, mark: bool = True, use_pidfd: bool = HAS_PIDFD) -> None:
        self.notice: str | None = (
            None
            if reason is None
            else f"containment is off ({reason}): a daemon started by the command may outlive a timeout"
        )
        self._mark = mark
        self._use_pidfd = use_pidfd

    def start(self, command: Command, listener: Listener, *, job: NewJob | None = None) -> Process:
        if job is not None:
            raise BackendUnavailableError("background jobs need the warden, which cannot run here; see `nacre doctor`")
        if command.terminal is not None:
            raise no_terminal()
        if command.needs_place:
            raise StartError("this command runs in a place of its own, which needs the warden; see `nacre doctor`")
        child = start_child(command, mark=self._mark)
        try:
            if self._use_pidfd and can_block_briefly(asyncio.get_running_loop()):
                ended = _wait_inline(child, listener)
                if ended is not None:
                    return ended
            return DirectProcess(child, command, listener, use_pidfd=self._use_pidfd)
        except OSError as error:
            # A descriptor too many; what was started must not go on unattended.
            child.end()
            raise start_error("descriptors", error.errno, str(error), command) from error


def _wait_inline(child: Child, listener: Listener) -> Process | None:
    """Wait a moment for a child that exits by itself and leaves nothing; None if it is not such a child."""
    for fd in child.readers:
        os.set_blocking(fd, False)
    if not child.ends_within(INLINE_MILLISECONDS) or not tell_output(listener, child.readers):
        return None
    facts = child.collect()
    if "code" not in facts or facts.get("refused") or child.has_group():
        return None
    outputs = len(child.readers)
    child.close()
    return tell_end(listener, outputs, Ending(pid=child.pid, code=facts["code"], stages=facts.get("stages", ())))


class DirectProcess(PipesOnly):
    """A child that is attended on the event loop.

    Half of its methods are the controls of a Process; the others are its stop ladder.
    """

    def __init__(self, child: Child, command: Command, listener: Listener, *, use_pidfd: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._listener = listener
        self._command = command
        self._child = child
        self._deadline: asyncio.TimerHandle | None = None
        """The next certain step: the timeout, the end of the grace, the next round of the kill."""
        self._look: asyncio.TimerHandle | None = None
        """The next look whether strays are gone before that."""
        self._why: str | None = None
        self._forced = False
        self._give_up_at = 0.0
        self._reported = False
        if command.timeout is not None:
            self._deadline = self._loop.call_later(command.timeout, self._begin_stop, "timeout")
        self._streams = StreamReaders(self._loop, listener)
        self._streams.watch(range(1, len(child.readers) + 1), child.readers)
        child.readers = []
        if child.facts is None:
            self._unwatch = watch_exit(self._loop, child.pid, self._child_ended, use_pidfd=use_pidfd)
        else:
            # Its number may belong to another process by now.
            self._unwatch = self._loop.call_soon(self._child_ended).cancel
        listener.started(child.pid)

    # Ending.

    def _child_ended(self) -> None:
        self._unwatch()
        self._streams.drain()
        self._child.collect()
        if self._why is None:
            self._report(left=self._something_left())
        elif not self._child.strays():
            self._report(left=False)

    def _something_left(self) -> bool:
        """A cheap first look, so that an ordinary command does not pay for a search of all processes."""
        return self._streams.any_open or self._child.has_group()

    def _report(self, *, left: bool, unkillable: tuple[Survivor, ...] = ()) -> None:
        if self._reported:
            return
        self._reported = True
        self._cancel_timers()
        self._listener.exited(
            Ending(
                pid=self._child.pid,
                why="timeout" if self._why == "timeout" else None if self._why is None else "stop",
                forced=self._forced,
                left=left,
                unkillable=unkillable,
                **(self._child.facts or {}),
            )
        )

    def _begin_stop(self, why: str) -> None:
        if self._why is not None or (self._child.facts is not None and why == "timeout"):
            return
        self._why = why
        self._reported = False
        self._signal_all(signal.SIGTERM)
        self._signal_all(signal.SIGCONT)
        self._cancel_timers()
        self._deadline = self._loop.call_later(self._command.grace, self._kill)
        self._look = self._loop.call_later(KILL_LOOK_SECONDS, self._look_for_end)

    def _look_for_end(self) -> None:
        """Whether strays that outlived the shell are gone now; the shell's own end comes by its watch."""
        if self._reported or self._forced:
            return
        if self._child.facts is not None and not self._child.strays():
            self._report(left=False)
        else:
            self._look = self._loop.call_later(KILL_LOOK_SECONDS, self._look_for_end)

    def _kill(self) -> None:
        if not self._forced:
            self._forced = True
            self._give_up_at = self._loop.time() + KILL_SECONDS
        left = self._signal_all(signal.SIGKILL)
        if self._child.facts is not None and not left:
            self._report(left=False)
        elif self._loop.time() >= self._give_up_at:
            self._report(left=True, unkillable=left)
        else:
            self._deadline = self._loop.call_later(KILL_LOOK_SECONDS, self._kill)

    def _signal_all(self, number: int) -> tuple[Survivor, ...]:
        self._child.signal_group(number)
        found = self._child.strays()
        for stray in found:
            try:
                os.kill(stray.pid, number)
            except (ProcessLookupError, PermissionError):
                continue
        return found

    def _cancel_timers(self) -> None:
        for timer in (self._deadline, self._look):
            if timer is not None:
                timer.cancel()
        self._deadline = self._look = None

    # Controls.

    def stop(self) -> None:
        self._begin_stop("stop")

    def signal(self, number: int) -> None:
        self._child.signal_group(number)

    async def survivors(self) -> tuple[Survivor, ...]:
        return self._child.strays()

    def pause(self) -> None:
        self._streams.pause()

    async def keep(self, job: NewJob | None, *, adopt: int | None = None) -> None:
        if job is not None:
            raise BackendUnavailableError("background jobs need the warden, which cannot run here; see `nacre doctor`")

    def release(self) -> None:
        self._cancel_timers()
        self._unwatch()
        self._streams.close()
        self._child.close()
