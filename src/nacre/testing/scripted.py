"""A backend that plays prepared endings instead of running anything: a verified fake.

It passes the same contract as the real ones (`nacre.testing.backend_contract`), so that tests of code that uses it hold
for the real ones too.
Time is the event loop's, so a test may bring a loop with a clock of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from nacre.backend import Ending, Listener, PipesOnly, Process, Survivor, no_terminal
from nacre.command import Command, NewJob
from nacre.errors import StartError, WorkingDirectoryError


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """What a command does."""

    writes: tuple[tuple[int, bytes], ...] = ()
    """Stream and bytes, in order."""
    code: int | None = 0
    """The exit code; None when it ends by signal or not at all."""
    signal: int | None = None
    stages: tuple[int, ...] = ()
    survivors: tuple[Survivor, ...] = ()
    """Processes that outlive the shell and hold its output."""
    ignores_term: bool = False

    @property
    def ends(self) -> bool:
        return self.code is not None or self.signal is not None


class ScriptedBackend:
    """Plays what was prepared for a script; an unknown script is an error of the test."""

    notice: str | None = None
    keeps = False

    def __init__(self, plays: Mapping[str, Play], *, missing_directories: frozenset[str] = frozenset()) -> None:
        self._plays = plays
        self._missing = missing_directories

    def start(self, command: Command, listener: Listener, *, job: NewJob | None = None) -> Process:
        if command.terminal is not None:
            raise no_terminal()
        if command.script not in self._plays:
            raise StartError(f"no play was prepared for {command.script!r}")
        return ScriptedProcess(self._plays[command.script], command, listener, missing=command.cwd in self._missing)


class ScriptedProcess(PipesOnly):
    PID = 4242

    def __init__(self, play: Play, command: Command, listener: Listener, *, missing: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._play = play
        self._command = command
        self._listener = listener
        self._timers: list[asyncio.TimerHandle] = []
        self._why: Literal["timeout", "stop"] | None = None
        self._ended = False
        if missing:
            self._loop.call_soon(listener.failed, WorkingDirectoryError(command.cwd, "does not exist"))
            return
        self._loop.call_soon(self._perform)
        if command.timeout is not None:
            self._timers.append(self._loop.call_later(command.timeout, self._begin_stop, "timeout"))

    def _perform(self) -> None:
        if self._ended:
            return
        self._listener.started(self.PID)
        for stream, data in self._play.writes:
            shown = 1 if self._command.streams == "merged" else stream
            self._listener.output(shown, bytearray(data), len(data))
        if self._play.ends:
            self._end(code=self._play.code, signal=self._play.signal)

    def _end(self, *, code: int | None, signal: int | None, forced: bool = False) -> None:
        if self._ended:
            return
        self._ended = True
        self._cancel_timers()
        stopped = self._why is not None
        self._listener.exited(
            Ending(
                pid=self.PID,
                code=code,
                signal=signal,
                why=self._why,
                forced=forced,
                stages=self._play.stages if self._command.stages else (),
                left=bool(self._play.survivors) and not stopped,
            )
        )
        if stopped or not self._play.survivors:
            for stream in (1,) if self._command.streams == "merged" else (1, 2):
                self._listener.closed(stream)

    def _begin_stop(self, why: Literal["timeout", "stop"]) -> None:
        if self._ended or self._why is not None:
            return
        self._why = why
        if self._play.ignores_term:
            kill = self._loop.call_later(self._command.grace, lambda: self._end(code=None, signal=9, forced=True))
            self._timers.append(kill)
        else:
            self._loop.call_soon(lambda: self._end(code=None, signal=15))

    def _cancel_timers(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._timers = []

    def stop(self) -> None:
        self._begin_stop("stop")

    def signal(self, number: int) -> None:
        self._loop.call_soon(lambda: self._end(code=None, signal=number))

    async def survivors(self) -> tuple[Survivor, ...]:
        return self._play.survivors if self._ended and self._why is None else ()

    def pause(self) -> None:
        return None

    async def keep(self, job: NewJob | None, *, adopt: int | None = None) -> None:
        return None

    def release(self) -> None:
        self._ended = True
        self._cancel_timers()
