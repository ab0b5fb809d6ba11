"""Commands in the terminals of a client, as an editor offers them: the client runs them, we ask how they are doing.

Such a terminal can be made, looked at, waited for, killed and released, and nothing else: what a finished command left
running, the stages of a pipe and a polite end are the client's affair. Every request to the client is bounded, and
every terminal is released, whatever happens.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

from nacre.backend import Ending, Listener, PipesOnly, Process, Survivor, no_terminal
from nacre.backends.start_errors import start_error
from nacre.command import Command, NewJob
from nacre.errors import BackendError, BackendUnavailableError, NacreError, StartError
from nacre.output.snapshots import Snapshots
from nacre.result import signal_number

# A client tells nothing by itself; this is how often it is asked.
LOOK_SECONDS = 0.25
# How long a client may take to answer.
CREATE_SECONDS = 0.5
KILL_SECONDS = 1.0
READ_SECONDS = 2.0
RELEASE_SECONDS = 1.0
# A terminal that was not made by then, after its call has ended, is taken for one that never will be.
LATE_SECONDS = 600.0
# Several times what is shown, because each look carries all of it.
OUTPUT_BYTES = 256 * 1024

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a terminal shows now."""

    text: str
    truncated: bool = False
    """Whether its beginning is gone."""


@dataclass(frozen=True, slots=True)
class TerminalExit:
    """How the command in a terminal ended, as the client tells it."""

    code: int | None = None
    signal: str | None = None


class TerminalClient(Protocol):
    """The terminals of one client. What the client refuses or does not answer is raised as a BackendError."""

    async def create(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], output_bytes: int) -> str:
        """Start a program with these variables on top of the client's own; the terminal's id, at once."""

    async def output(self, terminal_id: str) -> Snapshot: ...

    async def wait(self, terminal_id: str) -> TerminalExit: ...

    async def kill(self, terminal_id: str) -> None:
        """End the command; the terminal stays."""

    async def release(self, terminal_id: str) -> None:
        """End what still runs and give the terminal back."""


class ClientTerminalBackend:
    """Made for one call."""

    notice: str | None = None
    keeps = False

    def __init__(
        self,
        terminals: TerminalClient,
        environ: Mapping[str, str],
        *,
        placed: Callable[[str], None] | None = None,
    ) -> None:
        """Run in these terminals.

        Args:
            environ: our own environment, which is taken to be the client's.
            placed: told the id of the terminal as soon as there is one.
        """
        self._terminals = terminals
        self._environ = environ
        self._placed = placed
        self.terminal_id: str | None = None

    def start(self, command: Command, listener: Listener, *, job: NewJob | None = None) -> Process:
        if job is not None:
            raise BackendUnavailableError("a command in the client's terminal cannot be kept as a job")
        if command.terminal is not None:
            raise no_terminal()
        if command.needs_place:
            raise StartError("this command runs in a place of its own, which the client's terminal is not")
        try:
            os.scandir(command.cwd).close()
        except OSError as error:
            raise start_error("cwd", error.errno, str(error), command) from error
        return TerminalProcess(self, command, listener)

    def place(self, terminal_id: str) -> None:
        self.terminal_id = terminal_id
        if self._placed is not None:
            self._placed(terminal_id)

    def create(self, command: Command) -> Awaitable[str]:
        environ = self._environ
        added = {name: value for name, value in command.env.items() if environ.get(name) != value}
        stripped = [name for name in environ if name not in command.env]
        argv = [command.shell, "-c", command.script]
        if stripped:
            # Variables can only be added; names, unlike values, may be seen in a list of processes.
            argv = ["/usr/bin/env", *(word for name in stripped for word in ("-u", name)), *argv]
        return self._terminals.create(argv, cwd=command.cwd, env=added, output_bytes=OUTPUT_BYTES)

    @property
    def terminals(self) -> TerminalClient:
        return self._terminals


# What is still to be said to clients whose calls have ended; asyncio may drop a task without a reference.
_working: set[asyncio.Task[None]] = set()


def _go(work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.ensure_future(work)
    _working.add(task)
    task.add_done_callback(_working.discard)


def _drop(answer: asyncio.Future[Any]) -> None:
    """Wait for an answer no longer, not even until the task that fetches it is cancelled."""
    answer.cancel()
    # An error that is not looked at would be printed.
    answer.add_done_callback(lambda ended: ended.cancelled() or ended.exception())


class TerminalProcess(PipesOnly):
    """The process of one command in a terminal of the client.

    Half of its methods are the controls of a Process; the others ask the client, one question at a time.
    """

    def __init__(self, backend: ClientTerminalBackend, command: Command, listener: Listener) -> None:
        self._loop = asyncio.get_running_loop()
        self._backend = backend
        self._terminals = backend.terminals
        self._command = command
        self._listener = listener
        self._snapshots = Snapshots()
        self._notices: dict[str, None] = {}
        self._stopping: asyncio.Future[Literal["timeout", "stop"]] = self._loop.create_future()
        self._timer: asyncio.TimerHandle | None = None
        if command.timeout is not None:
            self._timer = self._loop.call_later(command.timeout, self._begin_stop, "timeout")
        if command.stages:
            self._say("in the client's terminal the stages of a pipe cannot be seen: one that failed may be hidden")
        _go(self._run())

    async def _run(self) -> None:
        try:
            ending = await self._execute()
        except NacreError as error:
            self._listener.failed(error)
        except Exception as error:  # noqa: BLE001 - the client implements the terminals, and a call must come back
            self._listener.failed(BackendUnavailableError(f"the client's terminals failed: {error!r}"))
        else:
            self._listener.closed(1)
            self._listener.exited(ending)
        finally:
            self._cancel_timer()

    async def _execute(self) -> Ending:
        creating = asyncio.ensure_future(self._backend.create(self._command))
        await self._first(creating)
        if not creating.done():
            # One that is about to be made can still be ended before the caller goes on.
            await asyncio.wait([creating], timeout=CREATE_SECONDS)
        if not creating.done():
            _go(self._release_late(creating))
            return Ending(pid=None, why=self._stopping.result())
        terminal_id = creating.result()
        try:
            self._backend.place(terminal_id)
            ending = await self._watch(terminal_id)
        finally:
            released = await self._ask(self._terminals.release(terminal_id), RELEASE_SECONDS)
        if not released:
            self._say("the client did not confirm that it released the terminal")
        return Ending(**ending, pid=None, notices=tuple(self._notices))

    async def _release_late(self, creating: asyncio.Future[str]) -> None:
        """End and release a terminal that was made after its call had ended."""
        done, _ = await asyncio.wait([creating], timeout=LATE_SECONDS)
        if not done:
            _drop(creating)
            return
        if creating.exception() is not None:
            return  # it was never made
        terminal_id = creating.result()
        await self._ask(self._terminals.kill(terminal_id), KILL_SECONDS)
        await self._ask(self._terminals.release(terminal_id), RELEASE_SECONDS)

    async def _watch(self, terminal_id: str) -> dict[str, Any]:
        exit = asyncio.ensure_future(self._terminals.wait(terminal_id))
        try:
            while True:
                await self._first(exit, seconds=LOOK_SECONDS)
                if exit.done() or self._stopping.done():
                    break
                await self._look(terminal_id)
            facts = _facts(exit) if exit.done() else await self._kill(terminal_id)
            # A caller that stops a command does not wait for its last output.
            if facts.get("why") != "stop" and not await self._ask(self._read(terminal_id), READ_SECONDS):
                self._say("the client did not tell the last output; some may be missing")
            return facts
        finally:
            _drop(exit)

    async def _kill(self, terminal_id: str) -> dict[str, Any]:
        if not await self._ask(self._terminals.kill(terminal_id), KILL_SECONDS):
            self._say("the client did not confirm that it ended the command; it may still run")
        return {"why": self._stopping.result(), "forced": True}

    # Asking the client.

    async def _look(self, terminal_id: str) -> None:
        """Look at the output, for as long as nothing else is to be done."""
        reading = asyncio.ensure_future(self._read(terminal_id))
        await self._first(reading, seconds=READ_SECONDS)
        # Whether the output can be had is said at the end.
        _drop(reading)

    async def _read(self, terminal_id: str) -> None:
        snapshot = await self._terminals.output(terminal_id)
        if snapshot.truncated:
            self._say(
                f"the client's terminal keeps only its newest output ({OUTPUT_BYTES // 1024} KB were asked for): "
                "of a fast output some may be missing"
            )
        text = self._snapshots.feed(snapshot.text, truncated=snapshot.truncated)
        if text:
            data = bytearray(text.encode("utf-8", "replace"))
            self._listener.output(1, data, len(data))

    async def _first(self, answer: asyncio.Future[Any], *, seconds: float | None = None) -> None:
        """Wait for an answer, or until the command is to be stopped."""
        ready = [answer, self._stopping]
        await asyncio.wait(ready, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)

    async def _ask(self, request: Awaitable[T], seconds: float) -> bool:
        """Whether the client did it within so many seconds."""
        answer = asyncio.ensure_future(request)
        try:
            done, _ = await asyncio.wait([answer], timeout=seconds)
        finally:
            _drop(answer)
        if not done or isinstance(answer.exception(), BackendError):
            return False
        answer.result()
        return True

    def _say(self, notice: str) -> None:
        self._notices[notice] = None

    # Controls.

    def _begin_stop(self, why: Literal["timeout", "stop"]) -> None:
        if not self._stopping.done():
            self._stopping.set_result(why)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def stop(self) -> None:
        self._begin_stop("stop")

    def signal(self, number: int) -> None:
        # The only one that can be sent.
        self._begin_stop("stop")

    async def survivors(self) -> tuple[Survivor, ...]:
        return ()

    def pause(self) -> None:
        return None

    async def keep(self, job: NewJob | None, *, adopt: int | None = None) -> None:
        raise BackendUnavailableError("a command in the client's terminal cannot be kept as a job")

    def release(self) -> None:
        # What still runs is ended, and its terminal released, also when no caller waits for it.
        self._begin_stop("stop")
        self._cancel_timer()


def _facts(exit: asyncio.Future[TerminalExit]) -> dict[str, Any]:
    error = exit.exception()
    if isinstance(error, BackendError):
        return {"lost": str(error)}
    ended = exit.result()
    if ended.code is not None:
        return {"code": ended.code}
    if ended.signal is None:
        return {"lost": "the client told neither an exit code nor a signal"}
    number = signal_number(ended.signal)
    return {"lost": f"the client names an unknown signal, {ended.signal!r}"} if number is None else {"signal": number}
