"""Shells started in advance: a call only hands over its script.

A spare is a runner with a waiting bash, in the directory and with the environment and pipes that the last call had.
It is used for one command, like any shell, and only for a call in the same surroundings; others start as usual. What
was started in advance is what costs: the process, its session and containment. How the script gets into a shell that
runs already is told in warden/spare_shell.py; contained.py uses the spares and has new ones started. The module is
beyond 350 lines, because all of the near side of spares stands in it (docs/decisions/spares.md).
"""

from __future__ import annotations

import errno
import os
import select
import signal
import socket
import threading
import time

from nacre import forks
from nacre.backends.pipes import OUTPUTS
from nacre.backends.spare_trial import DOES_NOT_WAIT, Trial
from nacre.backends.waiting_shell import WaitingShell, start_waiting
from nacre.command import Command
from nacre.warden import protocol
from nacre.warden.channel import is_quiet, receive_fds
from nacre.warden.launch import has_own_traps, prologue_lines, read_notes
from nacre.warden.protocol import SPARE_USABLE_SECONDS
from nacre.warden.spare_shell import HANDLES, ROOM_BYTES

# In all surroundings together: a shell costs a few megabytes.
MOST_SPARES = 4
# Older than that, a spare is one for surroundings that are not used any more: each use makes a new one.
FORGOTTEN_SECONDS = 5.0
# Fields of /proc/PID/stat, counted from the state: whether it waits, the exit status.
_WAITS, _EXIT_CODE = 32, 49


class Spare:
    """A waiting shell and the ends of its pipes."""

    def __init__(self, shell: WaitingShell, command: Command) -> None:
        self.link, self._go, self._text, self.readers = shell
        self.born = time.monotonic()
        self.pid = 0
        self._memory = self._stat = self._children = self._notes = self._orphans = -1
        """Of the shell, once its runner has handed them over; the last only in a sandbox."""
        self._alone = (b"", b"")
        """What the children of the runner and of the sandbox are while the shell is alone."""
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
        if event["event"] != "spare" or len(fds) not in (HANDLES, HANDLES + 1):
            for fd in fds:
                os.close(fd)
            return False
        self._memory, self._stat, self._children, self._handle, self._notes, *orphans = fds
        self._alone = (b"%d " % event["pid"], b"")
        if orphans:
            self._orphans = orphans[0]
            self._alone = os.pread(self._children, 64, 0), os.pread(self._orphans, 64, 0)
        self._end.register(self._handle, select.POLLIN)
        self._end.register(self.link.sock, select.POLLIN)
        self.pid, self._at, self._notes_fd = event["pid"], event["at"], event["notes"]
        return True

    def run(self, command: Command) -> bool:
        """Hand over the script; the shell goes at once. False when the shell is not there any more."""
        texts = [command.script]
        if command.stages or command.prologue:
            # It runs this before the script.
            texts.append("\n".join(prologue_lines(command.prologue, self._notes_fd, stages=command.stages)))
        # The names before the script are joined to it with blanks, so that `ps` shows all of it: the kernel shows what
        # was written over as one string.
        arguments = os.fsencode(f"{self._shell[self._shell.rfind('/') + 1 :]} -c {command.script}\0")
        try:
            # Positioned: the shell shares this descriptor's offset and reads from where it stands.
            os.pwrite(self._text, os.fsencode("\0".join(texts)) + b"\0", 0)
            if os.pwrite(self._memory, arguments, self._at) != len(arguments):
                return False
            self._go.send(b"\n")
        except OSError:
            return False
        return True

    def code_within(self, milliseconds: int) -> int | None:
        """The exit code of a shell that has ended by itself within that time and left nothing; None for any other."""
        if not self._end.poll(milliseconds):
            return None
        status = wait_status(self._stat)
        if status is None or os.pread(self._children, 64, 0) != self._alone[0]:
            return None
        if self._orphans >= 0 and os.pread(self._orphans, 64, 0) != self._alone[1]:
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
        fds = (self._text, self._memory, self._stat, self._children, self._handle, self._notes, self._orphans)
        self._text = self._memory = self._stat = self._children = self._handle = self._notes = self._orphans = -1
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
        self._text = self._memory = self._stat = self._children = self._handle = self._notes = self._orphans = -1
        self.readers = []

    def close(self) -> None:
        """Give it up; its runner ends the shell."""
        self.close_ends()
        self.link.close()


def _surroundings(command: Command) -> tuple[object, ...]:
    """What a command must have in common with the one that a spare was started for."""
    return command.env, command.cwd, command.streams, command.shell, command.sandbox


def _identity(path: str) -> tuple[int, int] | None:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def wait_status(stat: int) -> int | None:
    """The raw status of a shell that has ended and was not collected; None when it cannot be told.

    The kernel shows 0 as the status to a reader that it does not trust, as it does of a program with other rights that
    took the shell's place. The field before tells: it is 1 for a process that does not run, but 0 as well to the
    untrusted.

    Args:
        stat: its open /proc/PID/stat.
    """
    try:
        fields = os.pread(stat, 4096, 0).rpartition(b")")[2].split()
    except OSError:
        return None
    if len(fields) <= _EXIT_CODE or fields[0] != b"Z" or fields[_WAITS] != b"1":
        return None
    return int(fields[_EXIT_CODE])


def is_suited(command: Command) -> bool:
    """Whether a waiting shell can run it."""
    if command.side or command.stdin is not None or "BASH_ENV" in command.env:
        return False
    if command.terminal is not None or command.overlay is not None or command.budget is not None:
        return False
    if command.stages and has_own_traps(command.script):
        return False
    # A byte of the script can be three of UTF-8, so the cheap test comes first.
    return len(command.script) * 3 < ROOM_BYTES or len(os.fsencode(command.script)) < ROOM_BYTES


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
        self._trial: tuple[Binary, Trial] | None = None
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
            if self._trial is None or not self._trial[1].step():
                return False
            (binary, trial), self._trial = self._trial, None
            self._verdicts[binary] = trial.reason
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
                    self._trial = binary, Trial(command, _start)
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
                self._trial[1].close()
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
    trial = Trial(command, _start)
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
