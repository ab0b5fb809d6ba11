"""One live bash of a session: the ends of its pipes, what it was told, and whether it is alone.

Its script comes through a memory file that both sides hold open, so bash takes it with one read; a byte on the socket
makes it go. What it writes when a turn is over comes back on the same socket.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import select
import socket
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nacre import forks
from nacre.backends.pipes import stop_listening
from nacre.backends.start_errors import start_error
from nacre.backends.waiting_shell import WaitingShell, start_waiting
from nacre.command import Command
from nacre.errors import BackendUnavailableError, NacreError, StartError
from nacre.sessions.framing import ReportReader, TurnReport
from nacre.sessions.shell_loop import SAME, ShellLoop, shell_loop
from nacre.warden import children, marks, protocol
from nacre.warden.launch import Notes, notes_of
from nacre.warden_client.pool import warden

# More than the run-time guard says of one script.
MOST_NOTE_BYTES = 65536


class Shell:
    """A bash that waits for its next turn. Made by `start_shell`."""

    def __init__(self, shell: WaitingShell, command: Command, loop: ShellLoop) -> None:
        self.link, self.sock, self._script, (self.output, self.side) = shell
        self.loop = loop
        self.env = command.env
        self.pid = 0
        self.turns = 0
        self._runner = 0
        self._length = 0
        """How long the file is that scripts come in …"""
        self._told = 0
        """… and how much of that is ours."""
        self._last = ""
        self._alone = b""
        self._children = -1
        self._sees = False
        self.given: set[int] = set()
        """The marks of what earlier turns have left running: jobs by now, and none of the shell's business."""
        self.switched = False
        """Whether it writes to the pipe of a `switch`."""
        # A letter first: in a format of printf a digit would join the NUL before it.
        self._secret = f"n{secrets.token_hex(4)}x"
        self._frames = ReportReader()
        self._ready = select.poll()
        self._ready.register(self.sock, select.POLLIN)
        forks.hold(self)

    def tell(self, text: Callable[[str], str], *parts: str) -> None:
        """Have it run a line of ours, made for a fresh nonce, and the texts that belong to it.

        Raises:
            OSError: it is gone.
        """
        self.turns += 1
        nonce = f"{self._secret}{self.turns:x}"
        self._frames.expect(nonce)
        data = os.fsencode("\0".join((*self.loop.rounds(self.turns - 1), text(nonce), *parts))) + b"\0"
        at = 0
        while at < len(data):
            at += os.pwrite(self._script, data[at:] if at else data, at)
        if self._length > len(data):
            os.ftruncate(self._script, len(data))
        self._length = self._told = len(data)
        # The offset is shared: the shell reads from where we put it.
        os.lseek(self._script, 0, os.SEEK_SET)
        self.sock.send(b"\n")

    def heard(self) -> TurnReport | None:
        """The frame of the last turn, if it is there; raises EOFError when the shell is gone."""
        try:
            data = self.sock.recv(65536)
        except BlockingIOError:
            return None
        except OSError as error:
            raise EOFError from error
        if not data:
            raise EOFError
        return self._frames.feed(data)

    def linger(self, milliseconds: int) -> bool:
        """Whether it says something, or is gone, within that time."""
        return bool(self._ready.poll(milliseconds))

    async def answer(self) -> TurnReport:
        """Wait for the frame of the last turn; raises EOFError when the shell is gone."""
        if (frame := self.heard()) is not None:
            return frame
        loop = asyncio.get_running_loop()
        done: asyncio.Future[TurnReport] = loop.create_future()

        def look() -> None:
            try:
                frame = self.heard()
            except EOFError as error:
                if not done.done():
                    done.set_exception(error)
                stop_listening(loop, self.sock)
            else:
                if frame is not None and not done.done():
                    done.set_result(frame)

        loop.add_reader(self.sock.fileno(), look)
        try:
            return await done
        finally:
            stop_listening(loop, self.sock)

    def is_there(self) -> bool:
        """Whether it still waits: it says nothing by itself, so what there is to read is its end."""
        forks.check()
        if self._script < 0:
            return False
        if not self._ready.poll(0):
            return True
        try:
            return self.sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def meet(self, who: str) -> None:
        """Learn from its greeting which processes it and its runner are."""
        self.pid, self._runner = map(int, who.split())
        self._alone = f"{self.pid} ".encode("ascii")
        # A /proc that hides other users' processes hides runners too; then nothing can be said to be alone.
        self._sees = self.pid in children.descendants(self._runner)
        # A kernel without this file is asked in another way.
        with contextlib.suppress(OSError):
            path = f"/proc/{self._runner}/task/{self._runner}/children"
            self._children = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def is_alone(self, last: str) -> bool:
        """Whether nothing but the shell is left; `last` is its last background process."""
        changed = last not in (self._last, SAME)
        direct = os.pread(self._children, 4096, 0) if self._children >= 0 else b""
        if not changed and direct and direct == self._alone:
            return True
        below = children.descendants(self._runner)
        alone = self._sees and all(pid == self.pid or children.is_zombie(pid) or self._is_given(pid) for pid in below)
        if alone and changed:
            self._last = last
        if alone and self.given:
            self._alone = direct
        return alone

    def forget_last(self, last: str) -> None:
        """Its last background process is a job from now on."""
        self._last = last

    def _is_given(self, pid: int) -> bool:
        return bool(self.given) and marks.mark_of(pid) in self.given

    def written(self, most: int) -> bytes:
        """What it has written behind the script since it was told; longer than `most` when there was more."""
        told = self._told
        self._length = max(self._length, os.fstat(self._script).st_size)
        return os.pread(self._script, most + 1, told)

    def notes(self) -> Notes:
        """What the shell has noted of the last turn: refusals of the run-time guard, and at an exit the stage codes."""
        return notes_of(self.written(MOST_NOTE_BYTES).partition(b"\0")[0])

    def close(self) -> None:
        """Give it up: its runner ends it with everything below."""
        self.link.close()
        self.let_go()

    def let_go(self) -> None:
        """Give back what is ours, but not the way to its runner; the shell ends after its turn."""
        with contextlib.suppress(OSError):
            # Its runner has this end as well: without a word the shell would wait for one.
            self.sock.shutdown(socket.SHUT_WR)
        self.close_ends()

    def close_ends(self) -> None:
        """Close our copies of its descriptors, without a word."""
        self.sock.close()
        fds = (self._script, self._children, self.output, self.side)
        # Forgotten first: a fork in between must not close numbers that the host has taken by then.
        self._script = self._children = self.output = self.side = -1
        for fd in fds:
            if fd >= 0:
                os.close(fd)

    def drop(self, *, close: bool) -> None:
        """Leave the shell to the process that it belongs to; it ends when that closes its end of the socket."""
        if close:
            self.close_ends()
        else:
            self.sock.detach()
            self._script = self._children = self.output = self.side = -1


async def start_shell(command: Command, restoring: tuple[str, ...], deadline: float | None) -> Shell:
    """Start a bash in the command's surroundings, bring it into a state, and wait until it waits.

    Raises:
        NacreError: it could not be started; the directory, or a limit of the system.
        TimeoutError: it did not answer before the deadline, a time of the event loop.
    """
    try:
        shell = _start(command)
    except OSError as error:
        raise start_error("descriptors", error.errno, str(error), command) from error
    try:
        # A runner that could not start it says why, and may have done so already.
        with contextlib.suppress(OSError):
            shell.tell(lambda nonce: shell.loop.hello(nonce, len(restoring)), *restoring)
        async with asyncio.timeout_at(deadline):
            frame = await _greeting(shell, command)
        shell.meet(frame.last)
    except BaseException:
        shell.close()
        warden.wake()
        raise
    return shell


def _start(command: Command) -> Shell:
    loop = shell_loop()
    request = protocol.wait_session(
        script=loop.driver,
        shell=command.shell,
        cwd=command.cwd,
        names_cwd=command.names_cwd,
        side=loop.side_fd,
    )
    with forks.held_off:
        return Shell(start_waiting(replace(command, streams="merged", side=True), request), command, loop)


async def _greeting(shell: Shell, command: Command) -> TurnReport:
    """The first frame; or why there is none, which the runner knows."""
    loop = asyncio.get_running_loop()
    failure: asyncio.Future[Any] = loop.create_future()
    sock, frames = shell.link.sock, protocol.FrameReader()

    def look() -> None:
        error: NacreError | None = None
        try:
            data = sock.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data and warden.ever_ready():
            error = StartError("the runner of the session's shell was killed")
        elif not data:
            error = BackendUnavailableError("the warden could not start")
        for message in frames.events(data):
            if message["event"] == "failed":
                error = start_error(message["step"], message["errno"], message["reason"], command)
            elif message["event"] in ("exited", "bye"):
                error = StartError("the shell of the session ended while it was started")
        if error is not None and not failure.done():
            stop_listening(loop, sock)
            failure.set_result(error)

    loop.add_reader(sock.fileno(), look)
    answer: asyncio.Future[Any] = asyncio.ensure_future(shell.answer())
    try:
        await asyncio.wait([answer, failure], return_when=asyncio.FIRST_COMPLETED)
        if answer.done() and answer.exception() is None:
            warden.reap_intermediate()
            frame: TurnReport = answer.result()
            return frame
        # Its end is seen here a moment before its runner says why.
        raise await failure
    finally:
        stop_listening(loop, sock)
        answer.cancel()
        await asyncio.wait([answer])
        if not answer.cancelled():
            answer.exception()
