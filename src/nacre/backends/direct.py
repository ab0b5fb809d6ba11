"""Commands started by this process itself: the stated fallback where no warden can run.

Everything holds except containment: a process that leaves the command's session (setsid, a daemon) is found only
while it still descends from the shell or carries its mark in the environment, and jobs cannot outlive the program.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping
from typing import Any

from nacre.backend import AtOnce, Ending, Listener, Process, Survivor
from nacre.backends.child import Child, start_child
from nacre.backends.exit_watch import HAS_PIDFD, watch_exit
from nacre.backends.inline_wait import LINGER_MILLISECONDS, read_all, tell
from nacre.backends.pipes import PipeReader, watch_stream
from nacre.backends.start_errors import start_error
from nacre.command import Command
from nacre.errors import BackendUnavailableError
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

    def start(self, command: Command, listener: Listener, *, job: Mapping[str, Any] | None = None) -> Process:
        if job is not None:
            raise BackendUnavailableError("background jobs need the warden, which cannot run here; see `nacre doctor`")
        return _attend(start_child(command, mark=self._mark), command, listener, use_pidfd=self._use_pidfd)

    def begin(self, command: Command) -> Begun | None:
        """Start it without attending it; None where its end cannot be waited for."""
        if not self._use_pidfd:
            return None
        return Begun(start_child(command, mark=self._mark), self.notice)


class Begun:
    """A child that runs already and that nobody attends yet."""

    keeps = False

    def __init__(self, child: Child, notice: str | None) -> None:
        self.notice = notice
        self._child: Child | None = child
        self._outputs: tuple[bytes, ...] = ()

    def at_once(self) -> AtOnce | None:
        """What it came to, if it ends in a moment, with nothing special about it; else `start` goes on."""
        child = self._child
        assert child is not None
        for fd in child.readers:
            os.set_blocking(fd, False)
        if not child.ends_within(LINGER_MILLISECONDS):
            return None
        self._outputs, whole = read_all(child.readers)
        if not whole:
            return None
        facts = child.collect()
        if "code" not in facts or facts.get("refused") or child.has_group():
            return None
        child.close()
        self._child = None
        return AtOnce(facts["code"], facts.get("stages", ()), self._outputs)

    def start(self, command: Command, listener: Listener, *, job: Mapping[str, Any] | None = None) -> Process:
        """Attend it from here on."""
        assert job is None
        assert self._child is not None
        child, self._child = self._child, None
        tell(listener, self._outputs)
        return _attend(child, command, listener, use_pidfd=True)

    def close(self) -> None:
        """Give it up."""
        if self._child is not None:
            self._child.end()
            self._child = None


def _attend(child: Child, command: Command, listener: Listener, *, use_pidfd: bool) -> DirectProcess:
    try:
        return DirectProcess(child, command, listener, use_pidfd=use_pidfd)
    except OSError as error:
        # A descriptor too many; what was started must not go on unattended.
        child.end()
        raise start_error("descriptors", error.errno, str(error), command) from error


class DirectProcess:
    """A child that is attended on the event loop."""

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
        self._readers: dict[int, PipeReader] = {
            stream: watch_stream(self._loop, listener, stream, fd) for stream, fd in enumerate(child.readers, start=1)
        }
        child.readers = []
        if child.facts is None:
            self._unwatch = watch_exit(self._loop, child.pid, self._child_ended, use_pidfd=use_pidfd)
        else:
            # Its number may be somebody else's by now.
            self._unwatch = self._loop.call_soon(self._child_ended).cancel
        listener.started(child.pid)

    # Ending.

    def _child_ended(self) -> None:
        self._unwatch()
        for reader in list(self._readers.values()):
            reader.drain()
        self._child.collect()
        if self._why is None:
            self._report(left=self._something_left())
        elif not self._child.strays():
            self._report(left=False)

    def _something_left(self) -> bool:
        """A cheap first look, so that an ordinary command does not pay for a search of all processes."""
        for reader in self._readers.values():
            if reader.open:
                return True
        return self._child.has_group()

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
        for reader in self._readers.values():
            reader.pause()

    async def keep(self, job: Mapping[str, Any] | None, *, adopt: int | None = None) -> None:
        if job is not None:
            raise BackendUnavailableError("background jobs need the warden, which cannot run here; see `nacre doctor`")

    def release(self) -> None:
        self._cancel_timers()
        self._unwatch()
        self._close_readers()
        self._child.close()

    def _close_readers(self) -> None:
        for reader in self._readers.values():
            reader.close()
        self._readers = {}
