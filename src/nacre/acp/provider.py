"""Terminals for an ACP client, on our engine: what an agent starts in one is guarded, contained and ended for certain.

A client gives its terminal methods to a `TerminalProvider`. Nothing that a command started outlives the release of its
terminal, nor the client itself.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import shlex
from dataclasses import dataclass, replace
from typing import Any

from acp import RequestError
from acp.schema import (
    CreateTerminalResponse,
    EnvVariable,
    KillTerminalResponse,
    ReleaseTerminalResponse,
    TerminalExitStatus,
    TerminalOutputResponse,
    WaitForTerminalExitResponse,
)

from nacre import config
from nacre.api import PROFILE as RUN_PROFILE
from nacre.backend import Backend, Ending
from nacre.engine.capture import Capture
from nacre.engine.engine import Engine, from_environment
from nacre.engine.execute import conclude, in_place
from nacre.engine.observers import Observers
from nacre.engine.run import Run
from nacre.engine.summary import Finished
from nacre.errors import NacreError
from nacre.guard.approval import Approver
from nacre.output.decode import decode, trim_head, trim_tail
from nacre.planning.plan import Plan
from nacre.request import ShellRequest, check_command, check_env
from nacre.result import signal_name
from nacre.settings import Settings

# A terminal has no limit of its own; this one ends forgotten ones.
LONGEST_SECONDS = 24 * 3600.0
# The longest wait of a client that asks for a kill.
GRACE_SECONDS = 0.5
# What is shown to an agent that names no limit, and at most; all of it is in the artifact.
OUTPUT_BYTES = 1024 * 1024
MOST_OUTPUT_BYTES = 16 * 1024 * 1024

PROFILE = replace(RUN_PROFILE, contract="terminal", timeout=LONGEST_SECONDS, grace=GRACE_SECONDS, surface="acp")


class _Shown:
    """The newest output of a terminal."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bytes = bytearray()
        self.truncated = False

    def feed(self, _: int, data: memoryview) -> None:
        self._bytes += data
        if len(self._bytes) > 2 * self._limit:
            self._cut()

    def _cut(self) -> None:
        if len(self._bytes) > self._limit:
            self.truncated = True
            del self._bytes[: len(self._bytes) - self._limit]

    def text(self, *, ended: bool) -> str:
        """What is shown now; a character of which only the beginning has come is held back until the rest has."""
        self._cut()
        data = trim_tail(bytes(self._bytes)) if self.truncated else bytes(self._bytes)
        return decode(data if ended else trim_head(data))


@dataclass(frozen=True, slots=True)
class _Terminal:
    session_id: str
    call: str
    planned: Plan
    capture: Capture
    run: Run
    shown: _Shown
    notice: str | None
    """What its backend cannot promise."""


class TerminalProvider:
    """The terminal methods of an `acp.Client`; what they take and give is the protocol's."""

    def __init__(
        self,
        *,
        cwd: str | os.PathLike[str] | None = None,
        settings: Settings | None = None,
        approver: Approver | None = None,
    ) -> None:
        """Make terminals.

        Args:
            cwd: where a command runs whose agent names no directory; the process's own unless given.
            approver: asked about commands that a rule says to ask about.
        """
        self._cwd = None if cwd is None else config.absolute(cwd)
        self._settings = settings
        self._approver = approver
        self._terminals: dict[str, _Terminal] = {}
        self._ids = (f"term_{number}" for number in itertools.count(1))

    @property
    def _engine(self) -> Engine:
        return from_environment(settings=self._settings, approver=self._approver)

    async def create_terminal(
        self,
        session_id: str,
        command: str,
        args: list[str] | None = None,
        env: list[EnvVariable] | None = None,
        cwd: str | None = None,
        output_byte_limit: int | None = None,
        **_: Any,
    ) -> CreateTerminalResponse:
        """Start a program; an error names why it was not started."""
        script = shlex.join([command, *(args or [])])
        variables = {variable.name: variable.value for variable in env or []}
        limit = OUTPUT_BYTES if output_byte_limit is None else min(output_byte_limit, MOST_OUTPUT_BYTES)
        try:
            check_command(script)
            check_env(variables)
            terminal = await self._start(session_id, ShellRequest(command=script, env=variables, cwd=cwd), limit)
        except NacreError as error:
            raise RequestError.invalid_params({"details": str(error)}) from error
        terminal_id = next(self._ids)
        self._terminals[terminal_id] = terminal
        return CreateTerminalResponse(terminal_id=terminal_id)

    async def _start(self, session_id: str, request: ShellRequest, limit: int) -> _Terminal:
        engine = self._engine
        directory = self._cwd if self._cwd is not None else config.working_directory()

        async def start(place: Backend, planned: Plan) -> _Terminal:
            shown = _Shown(limit)
            observers = Observers(passthrough=shown.feed)
            capture = Capture(engine.artifacts, PROFILE, engine.settings, planned, observers)
            if engine.log.viewing is not None:
                engine.log.viewing.show_output(call, capture)
            run = Run.start(place, planned.command, capture)
            if engine.log.viewing is not None:
                engine.log.viewing.attend(call, run)
            try:
                await run.announced()
            except BaseException:
                run.release()
                capture.close()
                raise
            return _Terminal(session_id, call, planned, capture, run, shown, place.notice)

        planned = engine.planner.plan(request, PROFILE, cwd=directory)
        call = engine.log.begin(PROFILE, planned)
        return await in_place(engine, planned, PROFILE, start, call=call)

    async def terminal_output(self, session_id: str, terminal_id: str, **_: Any) -> TerminalOutputResponse:
        """What the terminal shows now, and how its command ended if it has."""
        terminal = self._find(session_id, terminal_id)
        ending = terminal.run.ending() if terminal.run.over else None
        status = None if ending is None else TerminalExitStatus(exit_code=ending.code, signal=_signal_of(ending))
        text = terminal.shown.text(ended=ending is not None)
        return TerminalOutputResponse(output=text, truncated=terminal.shown.truncated, exit_status=status)

    async def wait_for_terminal_exit(self, session_id: str, terminal_id: str, **_: Any) -> WaitForTerminalExitResponse:
        """Wait until the command has ended; what it left running is not waited for."""
        terminal = self._find(session_id, terminal_id)
        await terminal.run.watch.until_over()
        ending = terminal.run.ending()
        return WaitForTerminalExitResponse(exit_code=ending.code, signal=_signal_of(ending))

    async def kill_terminal(self, session_id: str, terminal_id: str, **_: Any) -> KillTerminalResponse:
        """End the command and everything it started; the terminal stays."""
        # A connection that is closed meanwhile cancels us, and must hear of that at once; the end goes on.
        await asyncio.shield(self._find(session_id, terminal_id).run.end())
        return KillTerminalResponse()

    async def release_terminal(self, session_id: str, terminal_id: str, **_: Any) -> ReleaseTerminalResponse:
        """End what still runs, also what a finished command left behind, and forget the terminal."""
        self._find(session_id, terminal_id)
        await asyncio.shield(self._release(self._terminals.pop(terminal_id)))
        return ReleaseTerminalResponse()

    async def aclose(self) -> None:
        """Release every terminal."""
        while self._terminals:
            _, terminal = self._terminals.popitem()
            await self._release(terminal)

    async def _release(self, terminal: _Terminal) -> None:
        run = terminal.run
        try:
            if not run.over:
                await run.end()
            if not run.over:
                terminal.capture.close()
                return
            # Before the sweep: how the command ended, not how its leftovers did.
            ending = run.ending()
            await run.settle()
            await run.sweep()
            # For the log, and to end the artifact.
            after = (terminal.notice,)
            finished = Finished(run, ending, terminal.planned, PROFILE, terminal.capture, after=after)
            conclude(self._engine, terminal.call, finished)
        finally:
            run.release()

    def _find(self, session_id: str, terminal_id: str) -> _Terminal:
        terminal = self._terminals.get(terminal_id)
        if terminal is None or terminal.session_id != session_id:
            known = ", ".join(name for name, one in self._terminals.items() if one.session_id == session_id) or "none"
            raise RequestError.invalid_params(
                {"details": f"no terminal {terminal_id!r} in this session; known: {known}"}
            )
        return terminal


def _signal_of(ending: Ending) -> str | None:
    return None if ending.signal is None else signal_name(ending.signal)
