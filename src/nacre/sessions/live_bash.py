"""A live bash of a session, as its turns see it: on this machine (`bash_process`) or on another one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from nacre.backend import Listener, Survivor
from nacre.command import Command, NewJob
from nacre.sessions.framing import TurnReport
from nacre.sessions.shell_loop import ShellLoop
from nacre.warden.launch import Notes


class LeftRunning(Protocol):
    """What a shell's scripts have left running."""

    job_marks: set[int]
    """The marks of what earlier turns left running: these processes are jobs."""

    def none(self, last: str) -> bool:
        """True if only the shell and jobs are left; `last` is the shell's `$!`."""

    def became_job(self, last: str) -> None:
        """Record that the shell's last background process (`$!`) is a job now."""


class Attending(Protocol):
    """What attends a turn that lasts: the limits, the output and the end of its shell.

    Half of its methods are the controls of a Process; the others are for a shell that goes on.
    """

    def drain(self) -> None:
        """Tell the output that is there now."""

    def leave(self) -> list[int]:
        """Stop attending a shell that goes on; the ends of its pipes, if they are here."""

    def rest(self) -> None:
        """End the limits of a command whose shell goes on."""

    def part(self, parted: Callable[[int | None], None]) -> None:
        """Have what the shell starts from now on told from what it has left; `parted` gets the mark of the latter."""

    def ask_spent(self, spent: Callable[[str | None], None]) -> None:
        """Have the limit of its budget told that the shell has reached."""

    def stop_kept(self, mark: int, cleared: Callable[[], None]) -> None:
        """Stop what a keeper has of an earlier turn, and not the shell; told when nothing of it is left."""

    def stop(self) -> None: ...

    def signal(self, number: int) -> None: ...

    async def survivors(self) -> tuple[Survivor, ...]: ...

    def pause(self) -> None: ...

    async def keep(self, job: NewJob | None, *, adopt: int | None = None, apart: bool = False) -> None: ...

    def release(self) -> None: ...


class LiveBash(Protocol):
    """A bash that waits for its next turn, or runs one. Its methods are the steps of a turn."""

    loop: ShellLoop
    output: int
    """The reading end of its pipe, where that is on this machine and not attended; else -1."""
    side: int
    pid: int
    turns: int
    switched: bool
    """True if its scripts write to the pipe of a `switch`."""
    can_switch: bool
    """True if it can go on beside what a script has left running."""
    retries: int
    """How often a turn looks again before it takes what is left for left running."""
    damaged: bool
    """True if a syntax error may have damaged its memory."""
    far: bool
    """True if it is on another machine, which may have to be reached again."""

    @property
    def gone(self) -> str | None:
        """Why it is not there any more, if the shell itself did not end."""

    async def reach(self) -> None:
        """Reach the machine of a shell that is far; `gone` tells if the shell is not there any more."""

    @property
    def leftovers(self) -> LeftRunning: ...

    def send(self, text: Callable[[str], str], *more: str) -> None:
        """Run a text that is made for a fresh nonce; raises OSError if the shell is gone."""

    def wait(self, milliseconds: int) -> bool:
        """Block until the shell says something or is gone; False if the time is over before."""

    def report(self) -> TurnReport | None:
        """The report of the last turn, if it has come; raises EOFError if the shell is gone."""

    def is_alive(self) -> bool: ...

    def attend(self, command: Command, listener: Listener) -> Attending:
        """Attend a turn that lasts."""

    def listen(self, loop: asyncio.AbstractEventLoop, heard: Callable[[], None]) -> None:
        """Have `heard` called when there is a report, or the shell is gone."""

    def unlisten(self, loop: asyncio.AbstractEventLoop) -> None: ...

    def written(self, most: int) -> bytes:
        """What the shell wrote about itself since the last `send`; longer than `most` if there was more."""

    def notes(self) -> Notes:
        """What the shell noted in the last turn."""

    def close(self) -> None:
        """End the shell; its runner ends every process below it that is not a job."""

    def close_after_turn(self) -> None:
        """Give the shell up; it ends after its turn."""


StartBash = Callable[[Command, tuple[str, ...], float | None], Awaitable[LiveBash]]
"""Starts a bash in the command's directory and environment, restores a state, and waits until it is ready."""


async def next_report(bash: LiveBash) -> TurnReport:
    """Wait for the report of the last turn; raises EOFError if the shell is gone."""
    loop = asyncio.get_running_loop()
    said = asyncio.Event()
    bash.listen(loop, said.set)
    try:
        while (report := bash.report()) is None:
            said.clear()
            await said.wait()
        return report
    finally:
        bash.unlisten(loop)
