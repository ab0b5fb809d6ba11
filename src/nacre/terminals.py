"""Commands on a terminal for programs that embed nacre: type, resize, and read the screen as text, without a window."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Self

from nacre import config, place
from nacre.api import PROFILE, head_and_tail
from nacre.command import TerminalSize
from nacre.engine.call_origin import CallOrigin
from nacre.engine.engine import Engine, from_environment
from nacre.engine.terminal_call import run_on_terminal
from nacre.errors import BackendError, JobError
from nacre.jobs import job_terminal
from nacre.jobs.job import Job
from nacre.jobs.typed_input import TypedInput
from nacre.kept_command import Waiting
from nacre.output.captured import EVERYTHING, Captured, Selection
from nacre.output.escapes import strip
from nacre.output.lines import settle
from nacre.request import Ground, ShellRequest, check_call
from nacre.result import Output, ShellResult
from nacre.screen import VirtualScreen, encode_key, open_screen
from nacre.screen.unseen_output import UnseenOutput
from nacre.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.call_budget import Budget
    from nacre.engine.attendant import Attendant
    from nacre.guard.approval import Approver

# How often a program is shown what is new.
PACE_SECONDS = 0.01


def terminal_text(captured: Captured, selection: Selection = EVERYTHING) -> Output:
    """The output of a terminal as text: without escapes, and each line as its last redraw left it."""
    output = head_and_tail(captured, selection)
    return replace(output, text=settle(strip(output.text)).text)


TERMINAL_PROFILE = replace(PROFILE, view=terminal_text)


async def run_attended(
    command: str,
    attendant: Attendant,
    size: TerminalSize,
    *,
    watched: bool,
    timeout: float | None = None,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    settings: Settings | None = None,
    approver: Approver | None = None,
    budget: Budget | None = None,
) -> ShellResult:
    """Run a command to its end on a terminal that the attendant shows.

    Args:
        watched: a person sees it, so that programs may page, edit and ask as at any terminal.

    Raises:
        NoTerminalError: terminals are switched off, or there are none here; nothing was started.
    """
    check_call(command, timeout=timeout, env=env)
    engine = from_environment(settings=settings, approver=approver)
    request = ShellRequest(
        command=command,
        timeout=engine.settings.execution.timeout_seconds if timeout is None else timeout,
        env=env,
        terminal=size,
        watched=watched,
        budget=budget,
    )
    _check_terminals(engine)
    there = place.directory_at(None)
    directory = config.absolute(cwd, base=there) if cwd is not None else there or config.working_directory()
    if engine.confining is not None:
        request = replace(request, ground=Ground(directory, "on a terminal"))
    result = await run_on_terminal(engine, request, TERMINAL_PROFILE, CallOrigin(directory), attendant)
    assert isinstance(result, ShellResult)
    return result


class NoTerminalError(BackendError):
    """Commands cannot have a terminal here, or shall not."""


def _check_terminals(engine: Engine) -> None:
    backend = engine.backend_for(TERMINAL_PROFILE)
    if engine.settings.pty.no_pty:
        raise NoTerminalError("pty is switched off (NACRE_NO_PTY)")
    if not (backend.keeps and getattr(backend, "terminals", False)):
        raise NoTerminalError("there are no terminals without the warden, which cannot run here; see `nacre doctor`")


class Terminal:
    """A running command on a terminal. Build it with `open_terminal`; leaving it ends the command."""

    def __init__(self, run: Callable[[Attendant], asyncio.Task[ShellResult]], size: TerminalSize) -> None:
        self._run = run
        self._size = size
        self._shown = _Shown(size)
        self._task: asyncio.Task[ShellResult] | None = None

    async def __aenter__(self) -> Self:
        """Start it; raises a NacreError where that is not possible."""
        self._task = self._run(self._shown)
        started = asyncio.ensure_future(self._shown.started.wait())
        try:
            await asyncio.wait([self._task, started], return_when=asyncio.FIRST_COMPLETED)
        finally:
            started.cancel()
        if self._task.done():
            self._task.result()
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        if not self._task.done():
            self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait([self._task])
        self._shown.close()

    @property
    def job_id(self) -> str:
        """The id under which `nacre watch` shows the terminal, and a person can take it over."""
        return self._shown.job.id

    @property
    def waiting(self) -> Waiting | None:
        """What it asks for, and whether the answer stays hidden; None while it does not wait for input."""
        return self._shown.waiting

    def write(self, text: str | bytes) -> None:
        """Type; Enter is "\\r". What the program does not read yet is typed when it does."""
        self._shown.typed.type(text.encode() if isinstance(text, str) else text)

    def press(self, key: str) -> None:
        """Press a key by its name: "up", "ctrl+c", "f5"."""
        self.write(encode_key(key, self._shown.emulator.modes))

    def resize(self, columns: int, rows: int) -> None:
        """Change the size; the program is told. Raises JobError when it has ended."""
        job_terminal.resize(self._shown.job, columns, rows)
        self._shown.emulator.resize(columns, rows)

    def screen(self) -> str:
        """Return what the terminal shows, row by row, without trailing blanks."""
        return "\n".join(self._shown.emulator.text()).rstrip("\n")

    async def until(self, wanted: str | Callable[[str], bool]) -> str:
        """Wait until the screen shows a text, or is as a function of it wants; return the screen.

        Raises:
            JobError: the command has ended without that.
        """
        assert self._task is not None
        while True:
            ended = self._task.done()
            screen = self.screen()
            if wanted(screen) if callable(wanted) else wanted in screen:
                return screen
            if ended:
                raise JobError(f"the command has ended, and its screen never showed {wanted!r}:\n{screen}")
            self._shown.fresh.clear()
            fresh = asyncio.ensure_future(self._shown.fresh.wait())
            await asyncio.wait([self._task, fresh], return_when=asyncio.FIRST_COMPLETED)
            fresh.cancel()

    def stop(self) -> None:
        """End it and everything it started; `wait` then raises CancelledError."""
        assert self._task is not None
        self._task.cancel()

    async def wait(self) -> ShellResult:
        """Wait for its end, and return the result: outcome, exit code, text, artifact."""
        assert self._task is not None
        return await asyncio.shield(self._task)


def open_terminal(
    command: str,
    *,
    columns: int = 120,
    rows: int = 40,
    timeout: float | None = None,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    settings: Settings | None = None,
) -> Terminal:
    """Run a command on a terminal that this program types into and reads.

    It is guarded, contained, limited, redacted and logged like every other run, and a person can watch it and take it
    over (`nacre watch ID`). The screen needs `nacre-shell[screen]`.

    >>> import asyncio, nacre
    >>> async def main():
    ...     async with nacre.open_terminal("read -p 'Name? ' name; echo Hello $name") as terminal:
    ...         await terminal.until("Name?")
    ...         terminal.write("Ada\\\\r")
    ...         return (await terminal.wait()).text
    >>> asyncio.run(main())
    'Name? Ada\\nHello Ada\\n'
    """
    size = TerminalSize(columns, rows)

    def run(attendant: Attendant) -> asyncio.Task[ShellResult]:
        work = run_attended(
            command, attendant, size, watched=False, timeout=timeout, cwd=cwd, env=env, settings=settings
        )
        return asyncio.get_running_loop().create_task(work)

    return Terminal(run, size)


class _Shown:
    """The attendant of a program: the newest output, drawn when the screen is asked for."""

    pace = PACE_SECONDS
    room = True

    def __init__(self, size: TerminalSize) -> None:
        self.started = asyncio.Event()
        self.fresh = asyncio.Event()
        self.waiting: Waiting | None = None
        self._screen = open_screen(*size)
        self._unseen = UnseenOutput(self._screen)

    def opened(self, job: Job) -> None:
        self.job = job
        self.typed = TypedInput(job)
        self.started.set()

    def show(self, data: bytes) -> None:
        self._unseen.add(data)
        self.fresh.set()

    def asks(self, waiting: Waiting | None) -> None:
        self.waiting = waiting
        self.fresh.set()

    async def drained(self) -> bool:
        return True

    @property
    def emulator(self) -> VirtualScreen:
        self._unseen.draw()
        return self._screen

    def close(self) -> None:
        if self.started.is_set():
            self.typed.close()
