"""Shells started in advance: a call only hands over its script.

A spare is a runner with a waiting bash, in the directory and with the environment and pipes that the last call had.
It is used for one command, like any shell, and only for a call in the same surroundings; others start as usual. What
was started in advance is what costs: the process, its session and containment. How the script gets into a shell that
runs already is told in warden/spare_shell.py.
"""

from __future__ import annotations

import asyncio
import errno
import os
import select
import signal
import socket
import threading
import time
from dataclasses import replace

from nacre import forks
from nacre.backends.pipes import OUTPUTS
from nacre.backends.waiting_shell import WaitingShell, start_waiting
from nacre.command import Command
from nacre.errors import NacreError
from nacre.warden import protocol
from nacre.warden import spare_shell as far
from nacre.warden.channel import receive_fds
from nacre.warden.launch import has_own_traps, read_notes
from nacre.warden.protocol import SPARE_USABLE_SECONDS
from nacre.warden_client.pool import warden
from nacre.warden_client.runner_link import is_quiet

# In all surroundings together: a shell costs a few megabytes.
MOST_SPARES = 4
# Older than that, a spare is one for surroundings that are not used any more: each use makes a new one.
FORGOTTEN_SECONDS = 5.0
# When one is there as a rule, if nothing else is going on.
READY_SECONDS = 0.004
# How long one may take to be there when it is tried whether there can be any.
TRIAL_SECONDS = 5.0
DOES_NOT_WAIT = "the shell does not wait for its script; bash does, from 4.4 on"


class Spare:
    """A waiting shell and the ends of its pipes."""

    def __init__(self, shell: WaitingShell, command: Command) -> None:
        self.link, self._go, self._text, self.readers = shell
        self.born = time.monotonic()
        self.pid = 0
        self._memory = self._stat = self._children = self._notes = -1
        """Of the shell, once its runner has handed them over."""
        self._end = select.poll()
        self._handle = -1
        self._at = self._notes_fd = 0
        """Where in its memory the arguments begin; its own descriptor for notes."""
        self._waits = False
        """Whether the shell has said that it waits for its script."""
        self.refusal: str | None = None
        """Why the system lets no shell be started in advance."""
        self.surroundings = _surroundings(command)
        self._cwd = command.cwd
        self._shell = command.shell
        self._directory = _identity(command.cwd)
        forks.hold(self)

    def fits(self, command: Command) -> bool:
        return self.surroundings == _surroundings(command)

    def look(self) -> bool | None:
        """Whether it can be used now; None when it never can (again)."""
        if self._memory < 0:
            if is_quiet(self.link.sock):
                return False
            if not self._meet_runner():
                return None
        if not self._waits:
            try:
                self._waits = self._go.recv(1, socket.MSG_DONTWAIT) != b""
            except BlockingIOError:
                return False
            if not self._waits:
                self.refusal = DOES_NOT_WAIT
                return None
        if time.monotonic() - self.born >= SPARE_USABLE_SECONDS or self._end.poll(0):
            return None
        # A directory that was replaced is another one.
        return True if self._directory is not None and _identity(self._cwd) == self._directory else None

    def _meet_runner(self) -> bool:
        """Take what the runner hands over when the shell is started; False when it could not be."""
        data, fds = receive_fds(self.link.sock, protocol.RECEIVE_BYTES)
        event = next(iter(protocol.FrameReader().events(data)), protocol.BYE)
        if event["event"] == "failed" and event["step"] == "spare":
            self.refusal = DOES_NOT_WAIT if event["errno"] == errno.ESRCH else event["reason"]
        if event["event"] != "spare" or len(fds) != far.HANDLES:
            for fd in fds:
                os.close(fd)
            return False
        self._memory, self._stat, self._children, self._handle, self._notes = fds
        self._end.register(self._handle, select.POLLIN)
        self._end.register(self.link.sock, select.POLLIN)
        self.pid, self._at, self._notes_fd = event["pid"], event["at"], event["notes"]
        return True

    def run(self, command: Command) -> bool:
        """Hand over the script; the shell goes at once. False when the shell is not there any more."""
        script = command.script
        text = far.handed(script, notes_fd=self._notes_fd, prologue=command.prologue, stages=command.stages)
        try:
            # Positioned: the shell shares this descriptor's offset and reads from where it stands.
            os.pwrite(self._text, text, 0)
            if not far.write_arguments(self._memory, self._at, self._shell, script):
                return False
            self._go.send(b"\n")
        except OSError:
            return False
        return True

    def code_within(self, milliseconds: int) -> int | None:
        """The exit code of a shell that has ended by itself within that time and left nothing; None for any other."""
        if not self._end.poll(milliseconds):
            return None
        status = far.wait_status(self._stat)
        if status is None or os.pread(self._children, 64, 0) != b"%d " % self.pid:
            return None
        code = os.waitstatus_to_exitcode(status)
        # Killed, or one of its children was: its runner knows whether for want of memory.
        return None if code < 0 or code == 128 + signal.SIGKILL else code

    def stages(self) -> tuple[int, ...]:
        """What the shell has noted of its last pipeline."""
        return tuple(read_notes(self._notes).stages)

    def close_handles(self) -> None:
        """Give back what only its use, and the look for its end, needed."""
        self._go.close()
        # Forgotten first: a fork in between must not close numbers that the host has taken by then.
        fds = (self._text, self._memory, self._stat, self._children, self._handle, self._notes)
        self._text = self._memory = self._stat = self._children = self._handle = self._notes = -1
        for fd in fds:
            if fd >= 0:
                os.close(fd)

    def close_ends(self) -> None:
        """Give back all but the way to its runner."""
        self.close_handles()
        readers, self.readers = self.readers, []
        for fd in readers:
            os.close(fd)

    def drop(self, *, close: bool) -> None:
        """Leave the shell to the process that it belongs to; the link drops its socket itself."""
        if close:
            self.close_ends()
            return
        self._go.detach()
        self._text = self._memory = self._stat = self._children = self._handle = self._notes = -1
        self.readers = []

    def close(self) -> None:
        """Give it up; its runner ends the shell."""
        self.close_ends()
        self.link.close()


def _surroundings(command: Command) -> tuple[object, ...]:
    """What a command must have in common with the one that a spare was started for."""
    return command.env, command.cwd, command.streams, command.shell


def _identity(path: str) -> tuple[int, int] | None:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def is_suited(command: Command) -> bool:
    """Whether a waiting shell can run it."""
    if command.side or command.stdin is not None or "BASH_ENV" in command.env:
        return False
    if command.stages and has_own_traps(command.script):
        return False
    # A byte of the script can be three of UTF-8, so the cheap test comes first.
    return len(command.script) * 3 < far.ROOM_BYTES or len(os.fsencode(command.script)) < far.ROOM_BYTES


# What a bash runs that was never tried, how it must end, and what it must print.
TRIAL_CODE = 23
TRIAL_SCRIPT = f"""printf '%s %s %s\\n' "$0" "$#" "${{#BASH_EXECUTION_STRING}}"
cat <<'END'
the script stands where -c had another
END
(exit {TRIAL_CODE})"""
DIFFERS = "a script that was written over the string after -c did not run as it should: this bash works in another way"


class Trial:
    """The first spare of a bash that was never tried: it runs a known script, and no call has it."""

    def __init__(self, command: Command, binary: Binary) -> None:
        self.binary = binary
        self.reason: str | None = None
        """Why this bash has no spares, once `step` has said that the trial is over."""
        self._command = replace(command, script=TRIAL_SCRIPT, prologue="", stages=False)
        self._spare = _start(self._command)
        self._until = time.monotonic() + TRIAL_SECONDS
        self._runs = False

    def step(self) -> bool:
        """Go on with the trial, without waiting; True when it is over."""
        if not self._runs:
            usable = self._spare.look()
            if usable is False:
                return self._is_late("it did not get ready")
            self._runs = bool(usable) and self._spare.run(self._command)
            if not self._runs:
                self.reason = self._spare.refusal or "it ended before it had a script"
                return True
        code = self._spare.code_within(0)
        if code is None:
            return self._is_late(DIFFERS)
        try:
            written = os.read(self._spare.readers[0], protocol.READ_BYTES)
        except BlockingIOError:
            written = b""
        name = os.path.basename(self._command.shell)
        expected = f"{name} 0 {len(TRIAL_SCRIPT)}\nthe script stands where -c had another\n".encode()
        if code != TRIAL_CODE or written != expected:
            self.reason = DIFFERS
        return True

    def _is_late(self, reason: str) -> bool:
        if time.monotonic() < self._until:
            return False
        self.reason = reason
        return True

    def close(self) -> None:
        self._spare.close()


Binary = tuple[str, int, int, int]


def _binary(shell: str) -> Binary:
    """What tells one bash from another that takes its place; raises OSError where there is none."""
    found = os.stat(shell)
    return shell, found.st_ino, found.st_size, found.st_mtime_ns


class Spares:
    """The shelf of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shelf: list[Spare] = []
        self._asked = 0
        self._verdicts: dict[Binary, str | None] = {}
        """Why a bash has no spares; None for one that has passed its trial."""
        self._trial: Trial | None = None
        forks.hold(self)

    def take(self, command: Command) -> Spare | None:
        """A fresh spare for this command, if there is one."""
        forks.check()
        with self._lock:
            for spare in list(self._shelf):
                if not spare.fits(command):
                    continue
                usable = spare.look()
                if usable is False:
                    continue  # it is still being started; another may be ready
                self._shelf.remove(spare)
                if usable:
                    return spare
                spare.close()
        return None

    @property
    def on_trial(self) -> bool:
        return self._trial is not None

    def meet(self) -> bool:
        """Take what the runners have handed over, so that no call has to; True when a bash has passed its trial now."""
        with self._lock:
            for spare in list(self._shelf):
                if spare.look() is None:
                    self._shelf.remove(spare)
                    spare.close()
            trial = self._trial
            if trial is None or not trial.step():
                return False
            self._trial = None
            self._verdicts[trial.binary] = trial.reason
            trial.close()
            return trial.reason is None

    def ready(self, command: Command) -> int:
        """How many there are for this command, of those that are not still being started."""
        with self._lock:
            return sum(spare.look() is True for spare in self._shelf if spare.fits(command))

    def refill(self, command: Command, wanted: int) -> None:
        """Start spares for the next calls in these surroundings; called when no call waits."""
        with self._lock:
            self._asked += 1
            # A program that makes a single call needs none.
            if self._asked < 2:
                return
            binary = _binary(command.shell)
            if binary not in self._verdicts:
                if self._trial is None:
                    self._trial = Trial(command, binary)
                return
            if self._verdicts[binary] is not None:
                return
            fitting = [spare for spare in self._shelf if spare.fits(command)]
            for spare in fitting:
                if time.monotonic() - spare.born >= SPARE_USABLE_SECONDS:
                    self._shelf.remove(spare)
                    spare.close()
                    fitting.remove(spare)
            for has in range(len(fitting), wanted):
                if len(self._shelf) >= MOST_SPARES and not self._make_room(has):
                    return
                self._shelf.append(_start(command))

    def _make_room(self, has: int) -> bool:
        """Give up a spare for surroundings that have so many; False when none can be spared for them.

        Calls that alternate between more surroundings than there is room for would otherwise end each other's spares,
        and start more shells than they use.
        """
        for spare in self._shelf:
            same = sum(one.surroundings == spare.surroundings for one in self._shelf)
            if same >= has + 2 or (has == 0 and time.monotonic() - spare.born >= FORGOTTEN_SECONDS):
                self._shelf.remove(spare)
                spare.close()
                return True
        return False

    def close(self) -> None:
        with self._lock:
            for spare in self._shelf:
                spare.close()
            self._shelf = []
            self._asked = 0
            if self._trial is not None:
                self._trial.close()
                self._trial = None

    def drop(self, *, close: bool) -> None:
        """Start anew; the spares drop their descriptors themselves."""
        # A thread of the parent may hold the lock, and does not exist in a fork.
        self._lock = threading.Lock()
        self._shelf = []
        self._asked = 0
        self._trial = None


def missing_reason(command: Command) -> str | None:
    """Try it: why no shell can be started in advance here; None when one can."""
    trial = Trial(command, _binary(command.shell))
    try:
        while not trial.step():
            time.sleep(0.001)
        return trial.reason
    finally:
        trial.close()


def _start(command: Command) -> Spare:
    request = protocol.wait_spare(
        shell=command.shell, cwd=command.cwd, names_cwd=command.names_cwd, outputs=OUTPUTS[command.streams]
    )
    with forks.held_off:
        return Spare(start_waiting(command, request), command)


spares = Spares()


def refill(command: Command, wanted: int) -> None:
    """Start spares for the next calls, if that can be done; no call depends on it."""
    try:
        spares.refill(command, wanted)
    except (NacreError, OSError):
        # The next call starts its shell itself, and says what is wrong if it cannot.
        spares.close()
    else:
        asyncio.get_running_loop().call_later(READY_SECONDS, _meet, command, wanted)


def _meet(command: Command, wanted: int) -> None:
    if spares.meet():
        refill(command, wanted)
    elif spares.on_trial:
        asyncio.get_running_loop().call_later(READY_SECONDS, _meet, command, wanted)


def refill_soon(loop: asyncio.AbstractEventLoop, command: Command, wanted: int, used: Spare | None = None) -> None:
    """The same at the loop's next turn, when the caller has its answer; the used spare is given back then."""

    def work() -> None:
        if used is not None:
            used.close_ends()
            warden.give(used.link, since=used.born)
        refill(command, wanted)

    loop.call_soon(work)
