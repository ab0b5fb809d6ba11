"""`nacre run --pty`: a command on a terminal of its own, shown in the one that nacre runs in."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Mapping

from nacre.call_budget import Budget
from nacre.cli.frame import complain
from nacre.cli.interruption import SIGNAL_BASE, Interruption
from nacre.cli.own_terminal import OwnTerminal, own_size
from nacre.command import TerminalSize
from nacre.errors import JobError
from nacre.guard.approval import Approver
from nacre.jobs import job_terminal
from nacre.jobs.job import Job
from nacre.jobs.typed_input import TypedInput
from nacre.kept_command import Waiting
from nacre.result import ShellResult
from nacre.terminals import run_attended

# Pressed three times within a second it ends a command that listens to no other key.
STOP_KEY = b"\x1d"
STOP_SECONDS = 1.0
# Ctrl-D: the end of input on a terminal.
END_OF_INPUT = b"\x04"
# How soon output is looked for: while something happens, and otherwise.
SOON_SECONDS, LATER_SECONDS, BUSY_SECONDS = 0.004, 0.03, 0.5


async def run_pty(
    command: str,
    interruption: Interruption,
    *,
    shows: bool,
    stdin: bool,
    timeout: float | None,
    cwd: str | None,
    env: Mapping[str, str],
    budget: Budget | None,
    approver: Approver | None,
) -> ShellResult:
    """Run it to its end.

    Args:
        shows: pass its output on to stdout.
        stdin: pass standard input on where that is no terminal.
    """
    with contextlib.ExitStack() as stack:
        person = shows and os.isatty(0) and os.isatty(1)
        attendant = _AtTerminal(stack, interruption) if person else _Unseen(stack, interruption, shows, stdin)
        return await run_attended(
            command,
            attendant,
            own_size(),
            watched=person,
            timeout=timeout,
            cwd=cwd,
            env=env,
            budget=budget,
            approver=approver,
        )


class _AtTerminal:
    """The attendant where a person sits."""

    def __init__(self, stack: contextlib.ExitStack, interruption: Interruption) -> None:
        self._stack = stack
        self._interruption = interruption
        self._terminal = OwnTerminal(typed=self._type, resized=self._resize)
        self._busy_until = 0.0
        self._stops: list[float] = []

    @property
    def room(self) -> bool:
        return self._terminal.room

    @property
    def pace(self) -> float:
        return SOON_SECONDS if time.monotonic() < self._busy_until else LATER_SECONDS

    def opened(self, job: Job) -> None:
        self._job = job
        self._input = TypedInput(job)
        self._stack.callback(self._input.close)
        self._stack.enter_context(self._terminal)
        self._resize(own_size())

    def show(self, data: bytes) -> None:
        self._stir()
        self._terminal.show(data)

    def asks(self, waiting: Waiting | None) -> None:
        """Say nothing: the person sees the prompt."""

    async def drained(self) -> bool:
        return await self._terminal.drained()

    def _stir(self) -> None:
        self._busy_until = time.monotonic() + BUSY_SECONDS

    def _type(self, data: bytes) -> None:
        self._stir()
        if self._stops_now(data):
            self._interruption.end(SIGNAL_BASE + signal.SIGINT)
            return
        self._input.type(data)
        if self._input.is_full:
            self._terminal.read_keys(on=False)
            asyncio.get_running_loop().call_later(LATER_SECONDS, self._type_on)

    def _type_on(self) -> None:
        if self._input.is_full:
            asyncio.get_running_loop().call_later(LATER_SECONDS, self._type_on)
        else:
            self._terminal.read_keys(on=True)

    def _stops_now(self, data: bytes) -> bool:
        now = time.monotonic()
        pressed = len(data) - len(data.rstrip(STOP_KEY))
        before = [] if pressed < len(data) else [one for one in self._stops if now - one < STOP_SECONDS]
        self._stops = before + [now] * pressed
        return len(self._stops) >= 3

    def _resize(self, size: TerminalSize) -> None:
        # It may have ended in this moment.
        with contextlib.suppress(JobError):
            job_terminal.resize(self._job, *size)


class _Unseen:
    """The attendant where no person can see it and type: its output goes to stdout, its input comes from stdin."""

    room = True
    pace = LATER_SECONDS

    def __init__(self, stack: contextlib.ExitStack, interruption: Interruption, shows: bool, stdin: bool) -> None:
        self._stack = stack
        self._interruption = interruption
        self._shows = shows
        self._stdin = stdin

    def opened(self, job: Job) -> None:
        self._job = job
        self._input = TypedInput(job)
        self._stack.callback(self._input.close)
        if self._stdin:
            loop = asyncio.get_running_loop()
            try:
                loop.add_reader(0, self._pass_on)
            except PermissionError:
                # A file is always ready, and cannot be waited for.
                self._type_file()
            else:
                self._stack.callback(loop.remove_reader, 0)

    def _type_file(self) -> None:
        if not self._pass_on():
            return
        asyncio.get_running_loop().call_later(0.0 if not self._input.is_full else LATER_SECONDS, self._type_file)

    def _pass_on(self) -> bool:
        if self._input.is_full:
            return True
        data = os.read(0, 4096)
        self._input.type(data or END_OF_INPUT)
        if not data:
            asyncio.get_running_loop().remove_reader(0)
        return bool(data)

    def show(self, data: bytes) -> None:
        if self._shows:
            self._interruption.pass_through(1, memoryview(data))

    def asks(self, waiting: Waiting | None) -> None:
        if waiting is not None and not self._stdin:
            where = f"answer it with `nacre watch {self._job.id}` and t"
            complain(f"it waits for input: {waiting.prompt or '(no prompt)'}; {where}")

    async def drained(self) -> bool:
        return True
