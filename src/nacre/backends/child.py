"""A shell that is a child of this very process: started, collected once, and told by its group and its mark."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import select
import signal
from typing import Any

from nacre import forks
from nacre.backend import Survivor
from nacre.backends.pipes import make_pipes
from nacre.backends.spawn import spawn
from nacre.backends.start_errors import start_error
from nacre.backends.strays import strays
from nacre.command import Command
from nacre.errors import NacreError
from nacre.warden import launch

# Marks what belongs to a call, so that its strays can be found again.
MARK = "NACRE_CALL"
# With the pid, because a fork has the same token and count.
_PROGRAM_MARK = secrets.token_hex(8)
_calls = itertools.count()


class Child:
    """Made by `start_child`."""

    def __init__(self, pid: int, prepared: launch.Launch, readers: list[int]) -> None:
        self.pid = pid
        self.readers = readers
        """The reading ends of its pipes, until a reader takes them."""
        self.facts: dict[str, Any] | None = None
        """How it ended, once it is collected."""
        self._launch = prepared
        self._dropped = False
        forks.hold(self)

    def ends_within(self, milliseconds: int) -> bool:
        """Whether it can be collected in that time."""
        try:
            handle = os.pidfd_open(self.pid)
        except OSError:
            return False  # collected by the host, or a descriptor too many: the process object finds out
        try:
            ended = select.poll()
            ended.register(handle, select.POLLIN)
            return bool(ended.poll(milliseconds))
        finally:
            os.close(handle)

    def collect(self) -> dict[str, Any]:
        """How it ended; it has."""
        if self.facts is not None:
            return self.facts
        try:
            _, status = os.waitpid(self.pid, 0)
        except ChildProcessError:
            facts: dict[str, Any] = {"lost": "the host program collected the exit status first"}
        else:
            code = os.waitstatus_to_exitcode(status)
            facts = {"code": code} if code >= 0 else {"signal": -code}
        if self._launch.notes_fd is not None:
            notes = launch.read_notes(self._launch.notes_fd)
            facts |= {"stages": tuple(notes.stages), "refused": tuple(notes.refused)}
        self.facts = facts
        return facts

    def has_group(self) -> bool:
        """Whether a process is left of the group that it led: a cheap look at a child that is collected."""
        try:
            os.killpg(self.pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def signal_group(self, number: int) -> None:
        if self.facts is None:
            # Not reaped yet, so the group cannot belong to another process.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def strays(self) -> tuple[Survivor, ...]:
        if self._dropped:
            return ()
        mark = self._launch.variables.get(MARK)
        return strays(self.pid, f"{MARK}={mark}" if mark else None)

    def end(self) -> None:
        """Kill and collect a child that no process object watches."""
        self.signal_group(signal.SIGKILL)
        self.collect()
        self.close()

    def drop(self, *, close: bool) -> None:
        """Leave the child to the process that started it: a fork neither signals nor collects it."""
        self._dropped = True
        self.facts = {"lost": "it was started by the process that this one is a fork of"}
        if not close:
            self.readers = []
            self._launch.inherited, self._launch.notes_fd = [], None
        self.close()

    def close(self) -> None:
        """Give back every descriptor."""
        readers, self.readers = self.readers, []
        for fd in readers:
            os.close(fd)
        self._launch.close()


def start_child(command: Command, *, mark: bool) -> Child:
    """Start the command's shell; raises a NacreError when it cannot be."""
    with forks.held_off:
        return _start_child(command, mark=mark)


def _start_child(command: Command, *, mark: bool) -> Child:
    prepared = _prepare(command, mark=mark)
    try:
        readers, writers = make_pipes(command)
        try:
            pid = spawn(command, prepared, writers)
        except BaseException:
            for fd in readers:
                os.close(fd)
            raise
        finally:
            for fd in writers:
                os.close(fd)
    except BaseException as error:
        prepared.close()
        if isinstance(error, OSError | ValueError):
            raise _spawn_error(error, command) from error
        raise
    prepared.close_inherited()
    return Child(pid, prepared, readers)


def _prepare(command: Command, *, mark: bool) -> launch.Launch:
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
    if mark:
        prepared.variables[MARK] = f"{_PROGRAM_MARK}-{os.getpid()}-{next(_calls)}"
    if command.names_cwd:
        prepared.variables["PWD"] = command.cwd
    return prepared


def _spawn_error(error: OSError | ValueError, command: Command) -> NacreError:
    number = error.errno if isinstance(error, OSError) else None
    # Popen names the directory when the change into it failed, and the program otherwise.
    step = "cwd" if isinstance(error, OSError) and error.filename == command.cwd else "shell"
    return start_error(step, number, str(error), command)
