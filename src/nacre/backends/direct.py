"""Commands started by this process itself: the stated fallback where no warden can run.

Everything holds except containment: a process that leaves the command's session (setsid, a daemon) is found only
while it still descends from the shell or carries its mark in the environment, and jobs cannot outlive the program.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import secrets
import signal
from collections.abc import Mapping
from typing import Any

from nacre.backends.exit_watch import HAS_PIDFD, watch_exit
from nacre.backends.pipes import PipeReader, make_pipes, watch_stream
from nacre.backends.spawn import spawn
from nacre.backends.start_errors import start_error
from nacre.backends.stray import strays
from nacre.command import Command
from nacre.errors import BackendUnavailableError, NacreError
from nacre.process import Ending, Listener, Process, Survivor
from nacre.warden import launch

# After SIGKILL: how often to look, and when to say that something cannot be killed.
KILL_LOOK_SECONDS = 0.01
KILL_SECONDS = 0.75
# Marks what belongs to a call, so that its strays can be found again.
MARK = "NACRE_CALL"
_PROGRAM_MARK = secrets.token_hex(8)
_calls = itertools.count()


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
        return DirectProcess(command, listener, mark=self._mark, use_pidfd=self._use_pidfd)


class DirectProcess:
    def __init__(self, command: Command, listener: Listener, *, mark: bool, use_pidfd: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._listener = listener
        self._command = command
        self._mark = f"{_PROGRAM_MARK}-{next(_calls)}" if mark else ""
        self._readers: dict[int, PipeReader] = {}
        self._deadline: asyncio.TimerHandle | None = None
        """The next certain step: the timeout, the end of the grace, the next round of the kill."""
        self._look: asyncio.TimerHandle | None = None
        """The next look whether strays are gone before that."""
        self._why: str | None = None
        self._forced = False
        self._give_up_at = 0.0
        self._status: dict[str, Any] | None = None
        """How the shell ended, once it is collected."""
        self._reported = False
        self._launch = self._prepare()
        if command.timeout is not None:
            self._deadline = self._loop.call_later(command.timeout, self._begin_stop, "timeout")
        try:
            self._pid = self._spawn()
        except (OSError, ValueError, NacreError) as error:
            self._cancel_timers()
            self._launch.close()
            if isinstance(error, NacreError):
                raise
            raise _spawn_error(error, command) from error
        self._launch.close_inherited()
        self._unwatch = watch_exit(self._loop, self._pid, self._child_ended, use_pidfd=use_pidfd)
        self._listener.started(self._pid)

    # Starting.

    def _prepare(self) -> launch.Launch:
        command = self._command
        try:
            prepared = launch.prepare(
                command.shell,
                command.script,
                bash_env=command.env.get("BASH_ENV"),
                prologue=command.prologue,
                stages=command.stages,
            )
        except OSError as error:
            raise start_error("descriptors", error.errno, str(error), command) from error
        if self._mark:
            prepared.variables[MARK] = self._mark
        if command.names_cwd:
            prepared.variables["PWD"] = command.cwd
        return prepared

    def _spawn(self) -> int:
        readers, writers = make_pipes(self._command)
        # Everything is in place before the start: the shell begins on this very processor, and what we did meanwhile
        # it would wait for.
        for stream, fd in enumerate(readers, start=1):
            self._readers[stream] = watch_stream(self._loop, self._listener, stream, fd)
        try:
            return spawn(self._command, self._launch, writers)
        except BaseException:
            self._close_readers()
            raise
        finally:
            for fd in writers:
                os.close(fd)

    # Ending.

    def _child_ended(self) -> None:
        self._unwatch()
        for reader in list(self._readers.values()):
            reader.drain()
        try:
            _, status = os.waitpid(self._pid, 0)
        except ChildProcessError:
            facts: dict[str, Any] = {"lost": "the host program collected the exit status first"}
        else:
            code = os.waitstatus_to_exitcode(status)
            facts = {"code": code} if code >= 0 else {"signal": -code}
        if self._launch.notes_fd is not None:
            notes = launch.read_notes(self._launch.notes_fd)
            facts |= {"stages": tuple(notes.stages), "refused": tuple(notes.refused)}
        self._status = facts
        if self._why is None:
            self._report(left=self._something_left())
        elif not self._strays():
            self._report(left=False)

    def _something_left(self) -> bool:
        """A cheap first look, so that an ordinary command does not pay for a search of all processes."""
        for reader in self._readers.values():
            if reader.open:
                return True
        try:
            os.killpg(self._pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def _report(self, *, left: bool, unkillable: tuple[Survivor, ...] = ()) -> None:
        if self._reported:
            return
        self._reported = True
        self._cancel_timers()
        self._listener.exited(
            Ending(
                pid=self._pid,
                why="timeout" if self._why == "timeout" else None if self._why is None else "stop",
                forced=self._forced,
                left=left,
                unkillable=unkillable,
                **(self._status or {}),
            )
        )

    def _begin_stop(self, why: str) -> None:
        if self._why is not None or (self._status is not None and why == "timeout"):
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
        if self._status is not None and not self._strays():
            self._report(left=False)
        else:
            self._look = self._loop.call_later(KILL_LOOK_SECONDS, self._look_for_end)

    def _kill(self) -> None:
        if not self._forced:
            self._forced = True
            self._give_up_at = self._loop.time() + KILL_SECONDS
        left = self._signal_all(signal.SIGKILL)
        if self._status is not None and not left:
            self._report(left=False)
        elif self._loop.time() >= self._give_up_at:
            self._report(left=True, unkillable=left)
        else:
            self._deadline = self._loop.call_later(KILL_LOOK_SECONDS, self._kill)

    def _signal_all(self, number: int) -> tuple[Survivor, ...]:
        if self._status is None:
            # Not reaped yet, so the group cannot be somebody else's.
            try:
                os.killpg(self._pid, number)
            except (ProcessLookupError, PermissionError):
                pass  # the group is gone or not ours to signal; strays are signalled one by one
        found = self._strays()
        for stray in found:
            try:
                os.kill(stray.pid, number)
            except (ProcessLookupError, PermissionError):
                continue
        return found

    def _strays(self) -> tuple[Survivor, ...]:
        return strays(self._pid, f"{MARK}={self._mark}" if self._mark else None)

    def _cancel_timers(self) -> None:
        for timer in (self._deadline, self._look):
            if timer is not None:
                timer.cancel()
        self._deadline = self._look = None

    # Controls.

    def stop(self) -> None:
        self._begin_stop("stop")

    def signal(self, number: int) -> None:
        if self._status is None:
            try:
                os.killpg(self._pid, number)
            except (ProcessLookupError, PermissionError):
                return  # it has just ended; its exit is reported in a moment

    async def survivors(self) -> tuple[Survivor, ...]:
        return self._strays()

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
        self._launch.close()

    def _close_readers(self) -> None:
        for reader in self._readers.values():
            reader.close()
        self._readers = {}


def _spawn_error(error: OSError | ValueError, command: Command) -> NacreError:
    number = error.errno if isinstance(error, OSError) else None
    # Popen names the directory when the change into it failed, and the program otherwise.
    step = "cwd" if isinstance(error, OSError) and error.filename == command.cwd else "shell"
    return start_error(step, number, str(error), command)
