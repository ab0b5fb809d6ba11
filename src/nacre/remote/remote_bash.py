"""A live bash of a session on another machine: the texts and reports are those of a shell here, over the link."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from nacre.backend import Listener
from nacre.backends.start_errors import start_error
from nacre.command import Command
from nacre.errors import BackendUnavailableError, NacreError, StartError
from nacre.remote.link import Link
from nacre.remote.link_thread import links
from nacre.remote.remote_process import StartFollower
from nacre.remote.shell_call import ShellCall
from nacre.sessions.bash_process import request_for
from nacre.sessions.framing import ReportReader, TurnReport, fresh_secret
from nacre.sessions.live_bash import next_report
from nacre.sessions.shell_loop import ShellLoop, shell_loop
from nacre.warden import remote_protocol
from nacre.warden.launch import Notes, notes_of


class FarLeftovers:
    """What the far side has told with the last report."""

    def __init__(self, call: ShellCall) -> None:
        self.job_marks: set[int] = set()
        self._call = call

    def none(self, _last: str) -> bool:
        return self._call.alone

    def became_job(self, _last: str) -> None:
        """Never told: the shell does not go on beside what it has left."""


class RemoteBash:
    """A bash that waits for its next turn. Made by `start_remote_bash`. Its methods are those of a `LiveBash`."""

    output = side = -1
    switched = can_switch = False
    far = True
    # The far side has looked again before it told the report.
    retries = 0

    def __init__(self, call: ShellCall, loop: ShellLoop) -> None:
        self.call = call
        self.loop = loop
        self.pid = 0
        self.turns = 0
        self.damaged = False
        self.leftovers = FarLeftovers(call)
        self._secret = fresh_secret()
        self._reports = ReportReader()

    @property
    def gone(self) -> str | None:
        reason = self.call.gone
        return None if reason is None else f"the last one is lost ({reason})"

    def send(self, text: Callable[[str], str], *more: str) -> None:
        self.turns += 1
        nonce = f"{self._secret}{self.turns:x}"
        self._reports.expect(nonce)
        self.call.send_text(self.turns, nonce, self.loop.encoded(self.turns - 1, text(nonce), *more))

    def wait(self, milliseconds: int) -> bool:
        """False: the way there takes longer than an event loop may be held."""
        return False

    def report(self) -> TurnReport | None:
        call = self.call
        if not call.reports:
            call.look()
        while call.reports:
            if (report := self._reports.feed(call.reports.popleft())) is not None:
                return report
        if call.end is not None or call.gone is not None:
            raise EOFError
        return None

    def is_alive(self) -> bool:
        self.call.look()
        return self.call.end is None and self.call.gone is None

    async def reach(self) -> None:
        await self.call.reach()

    def attend(self, command: Command, listener: Listener) -> ShellCall:
        self.call.attend(command, listener)
        return self.call

    def listen(self, loop: asyncio.AbstractEventLoop, heard: Callable[[], None]) -> None:
        self.call.awake(heard)

    def unlisten(self, loop: asyncio.AbstractEventLoop) -> None:
        self.call.awake(None)

    def written(self, most: int) -> bytes:
        return bytes(self.call.written[: most + 1])

    def notes(self) -> Notes:
        return notes_of(bytes(self.call.written).partition(b"\0")[0])

    def close(self) -> None:
        self.call.forget()

    def close_after_turn(self) -> None:
        if self.call.gone is None:
            self.call.send(remote_protocol.last_text(self.call.number))


async def start_remote_bash(
    link: Link, follow: StartFollower, command: Command, restoring: tuple[str, ...], deadline: float | None
) -> RemoteBash:
    """Start a bash there in the command's directory and environment, restore a state, and wait until it is ready.

    Raises:
        NacreError: it could not be started: the machine, the directory, or a limit of the system.
        TimeoutError: it was not ready at the deadline, a time of the event loop.
    """
    loop = shell_loop(link.hello["files"])
    call = ShellCall(link, command, follow)
    bash = RemoteBash(call, loop)
    links.post(link.open, call, request_for(command, loop), command.env, None)
    try:
        bash.send(partial(loop.hello, len(restoring)), *restoring)
        async with asyncio.timeout_at(deadline):
            try:
                hello = await next_report(bash)
            except EOFError:
                raise _start_problem(call, command) from None
        bash.pid, runner = map(int, hello.last.split())
        cell: list[int] = []
        if call.placed is not None:
            bash.pid, runner, cell = call.placed["pid"], call.placed["runner"], call.placed["cell"]
        call.watch(bash.pid, runner, cell)
    except BaseException:
        bash.close()
        raise
    return bash


def _start_problem(call: ShellCall, command: Command) -> NacreError:
    """Why there is no shell."""
    end = call.end or {}
    if end.get("event") == "failed":
        return start_error(end["step"], end["errno"], end["reason"], command)
    error = end.get("error")
    if isinstance(error, NacreError):
        return error
    if call.gone is not None:
        return BackendUnavailableError(f"the session's shell could not be started: {call.gone}")
    return StartError("the shell of the session ended while it was started")
