"""One live bash of a session: its socket, its script file, its pipes, and the processes below it.

The host writes a script into a memory file that both sides hold open, so bash takes it with one read, and a byte on the
socket starts the turn. The shell reports the end of the turn on the same socket.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import socket
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from nacre import forks
from nacre.backend import Listener
from nacre.backends.contained_process import ContainedProcess
from nacre.backends.pipes import stop_listening
from nacre.backends.start_errors import start_error
from nacre.backends.start_request import limits_of
from nacre.backends.waiting_shell import WaitingShell, start_waiting
from nacre.command import Command
from nacre.errors import BackendUnavailableError, NacreError, StartError
from nacre.sessions.framing import ReportReader, TurnReport, fresh_secret
from nacre.sessions.shell_loop import SAME, ShellLoop, shell_loop
from nacre.warden import children, protocol
from nacre.warden.launch import Notes, notes_of
from nacre.warden.leftovers import is_alone
from nacre.warden_client.pool import warden

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.messages import Placed, WaitSession

# More than the run-time guard notes about one script.
MOST_NOTE_BYTES = 65536
# Looks of a turn, 4 ms apart, before a shell moves away from leftover processes; `>(tee log)` ends by itself.
RETRIES = 4


class Leftovers:
    """Watches the processes below one session's runner."""

    def __init__(self) -> None:
        self.job_marks: set[int] = set()
        """The marks of what earlier turns left running: these processes are jobs."""
        self._shell = self._runner = 0
        self._last = ""
        """The value of `$!` when nothing was left."""
        self._expected = b""
        """The runner's children when nothing is left, as the kernel prints them."""
        self._sees = False
        self._fd = self._orphans = -1
        self._cell: tuple[int, ...] = ()
        self._alone = b""
        """The children of the sandbox's first process when nothing is left."""

    def watch(self, shell: int, runner: int, cell: tuple[int, ...] = ()) -> None:
        """Watch the processes below this runner, one of which is the shell, and those of its sandbox are not."""
        self._shell, self._runner, self._cell = shell, runner, cell
        self._expected = f"{shell} ".encode("ascii")
        if cell:
            outer, first, holder, *proxy = cell
            ours = " ".join(map(str, (outer, *proxy, shell, "")))
            self._expected, self._alone = ours.encode("ascii"), f"{holder} ".encode("ascii")
            with contextlib.suppress(OSError):
                self._orphans = os.open(f"/proc/{first}/task/{first}/children", os.O_RDONLY | os.O_CLOEXEC)
        # A /proc that hides other users' processes hides runners too: then nothing can be ruled out.
        self._sees = shell in children.descendants(runner)
        # Some kernels do not have this file.
        with contextlib.suppress(OSError):
            self._fd = os.open(f"/proc/{runner}/task/{runner}/children", os.O_RDONLY | os.O_CLOEXEC)

    def none(self, last: str) -> bool:
        """True if only the shell and jobs are left; `last` is the shell's `$!`."""
        changed = last not in (self._last, SAME)
        direct = os.pread(self._fd, 4096, 0) if self._fd >= 0 else b""
        orphans = os.pread(self._orphans, 4096, 0) if self._orphans >= 0 else b""
        if not changed and direct and direct == self._expected and orphans == self._alone:
            return True
        alone = self._sees and is_alone(self._shell, self._runner, cell=self._cell, job_marks=self.job_marks)
        if alone and changed:
            self._last = last
        if alone and self.job_marks:
            self._expected, self._alone = direct, orphans
        return alone

    def became_job(self, last: str) -> None:
        """Record that the shell's last background process (`$!`) is a job now."""
        self._last = last

    def close(self, *, forget: bool = False) -> None:
        """Close the descriptor, or only forget its number."""
        fds, self._fd, self._orphans = (self._fd, self._orphans), -1, -1
        for fd in fds:
            if fd >= 0 and not forget:
                os.close(fd)


class BashProcess:
    """A bash that waits for its next turn. Made by `start_bash`. Its methods are those of a `LiveBash`."""

    can_switch = True
    far = False
    gone: str | None = None

    def __init__(self, shell: WaitingShell, loop: ShellLoop) -> None:
        self.link, self.sock, self._script, (self.output, self.side) = shell
        self.loop = loop
        self.leftovers = Leftovers()
        self.pid = 0
        self.turns = 0
        self.switched = False
        """True if its scripts write to the pipe of a `switch`."""
        self.retries = RETRIES
        self.placed: Placed | None = None
        """Its pids, if it is in a sandbox and does not know them."""
        self.damaged = False
        """True if a syntax error may have damaged its memory."""
        self._file_bytes = 0
        """The size of the script file …"""
        self._sent_bytes = 0
        """… and the part of it that the host wrote."""
        self._secret = fresh_secret()
        self._reports = ReportReader()
        self._poll = select.poll()
        self._poll.register(self.sock, select.POLLIN)
        forks.hold(self)

    def send(self, text: Callable[[str], str], *more: str) -> None:
        """Run a text that is made for a fresh nonce; the loop finds the texts after it in its variable.

        Raises:
            OSError: the shell is gone.
        """
        self.turns += 1
        nonce = f"{self._secret}{self.turns:x}"
        self._reports.expect(nonce)
        data = self.loop.encoded(self.turns - 1, text(nonce), *more)
        at = 0
        while at < len(data):
            at += os.pwrite(self._script, data[at:] if at else data, at)
        if self._file_bytes > len(data):
            os.ftruncate(self._script, len(data))
        self._file_bytes = self._sent_bytes = len(data)
        # The offset is shared with the shell.
        os.lseek(self._script, 0, os.SEEK_SET)
        self.sock.send(b"\n")

    def report(self) -> TurnReport | None:
        """The report of the last turn, if it has come; raises EOFError if the shell is gone."""
        try:
            data = self.sock.recv(protocol.RECEIVE_BYTES)
        except BlockingIOError:
            return None
        except OSError as error:
            raise EOFError from error
        if not data:
            raise EOFError
        return self._reports.feed(data)

    def wait(self, milliseconds: int) -> bool:
        """Block until the shell says something or is gone; False if the time is over before."""
        return bool(self._poll.poll(milliseconds))

    async def reach(self) -> None:
        """Nothing is to be done: it is here."""

    def attend(self, command: Command, listener: Listener) -> ContainedProcess:
        """Watch its output and its runner on the event loop."""
        attending = ContainedProcess(self.link, command, listener)
        readers, self.output = [self.output], -1
        if command.side:
            readers.append(self.side)
            self.side = -1
        attending.attend(readers)
        return attending

    def listen(self, loop: asyncio.AbstractEventLoop, heard: Callable[[], None]) -> None:
        loop.add_reader(self.sock.fileno(), heard)

    def unlisten(self, loop: asyncio.AbstractEventLoop) -> None:
        stop_listening(loop, self.sock)

    def is_alive(self) -> bool:
        """True if the shell waits: it says nothing by itself, so a readable socket is at its end."""
        forks.check()
        if self._script < 0:
            return False
        if not self._poll.poll(0):
            return True
        try:
            return self.sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def written(self, most: int) -> bytes:
        """What the shell wrote to the script file since the last `send`; longer than `most` if there was more."""
        self._file_bytes = max(self._file_bytes, os.fstat(self._script).st_size)
        return os.pread(self._script, most + 1, self._sent_bytes)

    def notes(self) -> Notes:
        """What the shell noted in the last turn: refusals of the run-time guard, and at an exit the stage codes."""
        return notes_of(self.written(MOST_NOTE_BYTES).partition(b"\0")[0])

    def close(self) -> None:
        """End the shell; its runner ends every process below it that is not a job."""
        self.link.close()
        self.close_after_turn()

    def close_after_turn(self) -> None:
        """Close our descriptors but not the link to the runner; the shell ends after its turn."""
        with contextlib.suppress(OSError):
            # The runner has a copy of our end, so closing it is not enough to end the shell.
            self.sock.shutdown(socket.SHUT_WR)
        self.drop(close=True)

    def drop(self, *, close: bool) -> None:
        """Close our copies of its descriptors, or only forget their numbers; the shell is told nothing."""
        forks.close_or_forget(self.sock, close=close)
        fds = (self._script, self.output, self.side)
        # Forgotten first: a fork in between must not close numbers that the host has reused.
        self._script = self.output = self.side = -1
        self.leftovers.close(forget=not close)
        for fd in fds:
            if close and fd >= 0:
                os.close(fd)


def request_for(command: Command, loop: ShellLoop) -> WaitSession:
    """The request for a bash that runs the loop."""
    request = protocol.wait_session(
        script=loop.driver,
        shell=command.shell,
        cwd=command.cwd,
        names_cwd=command.names_cwd,
        side=loop.side_fd,
        budget=limits_of(command),
    )
    if command.sandbox is not None and command.sandbox.message:
        request["sandbox"] = command.sandbox.message  # type: ignore[typeddict-item]
    return request


async def start_bash(command: Command, restoring: tuple[str, ...], deadline: float | None) -> BashProcess:
    """Start a bash in the command's directory and environment, restore a state, and wait until it is ready.

    Raises:
        NacreError: it could not be started: the directory, or a limit of the system.
        TimeoutError: it was not ready at the deadline, a time of the event loop.
    """
    loop = shell_loop()
    request = request_for(command, loop)
    try:
        with forks.held_off:
            bash = BashProcess(start_waiting(replace(command, streams="merged", side=True), request), loop)
    except OSError as error:
        raise start_error("descriptors", error.errno, str(error), command) from error
    try:
        # A runner that could not start the shell says why, and may have done so already.
        with contextlib.suppress(OSError):
            bash.send(partial(loop.hello, len(restoring)), *restoring)
        async with asyncio.timeout_at(deadline):
            hello = await _first_report(bash, command)
        bash.pid, runner = map(int, hello.last.split())
        cell: tuple[int, ...] = ()
        if bash.placed is not None:
            bash.pid, runner, cell = bash.placed["pid"], bash.placed["runner"], tuple(bash.placed["cell"])
        bash.leftovers.watch(bash.pid, runner, cell)
    except BaseException:
        bash.close()
        warden.wake()
        raise
    return bash


async def _first_report(bash: BashProcess, command: Command) -> TurnReport:
    """The shell's first report; raises the reason that its runner gives if there is none."""
    loop = asyncio.get_running_loop()
    said = asyncio.Event()
    runner, frames = bash.link.sock, protocol.FrameReader()
    loop.add_reader(runner.fileno(), said.set)
    loop.add_reader(bash.sock.fileno(), said.set)
    report: TurnReport | None = None
    try:
        while True:
            try:
                report = report or bash.report()
            except EOFError:
                # Its runner says why in a moment.
                stop_listening(loop, bash.sock)
            if report is not None and (bash.placed is not None or not (command.sandbox and command.sandbox.message)):
                warden.reap_intermediate()
                return report
            if (error := _runner_error(bash, frames, command)) is not None:
                raise error
            if report is not None and bash.placed is not None:
                continue
            said.clear()
            await said.wait()
    finally:
        stop_listening(loop, runner)
        stop_listening(loop, bash.sock)


def _runner_error(bash: BashProcess, frames: protocol.FrameReader, command: Command) -> NacreError | None:
    """Why the runner has no shell for us, if it has said so or is gone."""
    try:
        data = bash.link.sock.recv(protocol.RECEIVE_BYTES)
    except BlockingIOError:
        return None
    except OSError:
        data = b""
    if not data and warden.ever_ready():
        return StartError("the runner of the session's shell was killed")
    if not data:
        return BackendUnavailableError("the warden could not start")
    for message in frames.events(data):
        if message["event"] == "placed":
            bash.placed = message
        if message["event"] == "failed":
            return start_error(message["step"], message["errno"], message["reason"], command)
        if message["event"] in ("exited", "bye"):
            return StartError("the shell of the session ended while it was started")
    return None
