"""Ends a verb early, on a signal or when the reader of stdout is gone.

The command and everything it started end first, then the verb. A signal handler of the event loop is not enough: the
loop is blocked while it writes to a full pipe.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
from collections.abc import Callable, Coroutine
from types import FrameType
from typing import Any, TypeVar

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# A shell reports 128 + n for a program that signal n ended.
SIGNAL_BASE = 128
STREAMS = {1: "stdout", 2: "stderr"}

T = TypeVar("T")


class _UnblockedError(Exception):
    """Interrupts a write that would never return."""


class Interruption:
    """Watches over one awaited command."""

    def __init__(self) -> None:
        self._cancel: Callable[[], None] | None = None
        self._cause: BaseException | None = None
        self._writing = False
        self._before: dict[signal.Signals, Any] = {}

    def take_signals(self) -> None:
        """Install the handlers before the event loop starts, or asyncio installs its own for SIGINT."""
        self._before = {number: signal.signal(number, self._signalled) for number in SIGNALS}

    async def guard(self, work: Coroutine[Any, Any, T]) -> T:
        """Await the work; an interruption cancels it and is raised when the work has cleaned up."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def cancel() -> None:
            loop.call_soon_threadsafe(task.cancel)

        self._cancel = cancel
        if not self._before:
            self.take_signals()
        try:
            if self._cause is not None:
                work.close()
                raise self._cause
            result = await work
            if self._cause is not None:
                # A short command can end before the cancellation reaches it; its output is lost all the same.
                raise self._cause
            return result
        except asyncio.CancelledError:
            if self._cause is None:
                raise
            raise self._cause from None
        finally:
            for number, handler in self._before.items():
                signal.signal(number, handler)

    def pass_through(self, stream: int, data: memoryview) -> None:
        """Write output of the command to our own stream; a failure ends the command."""
        if self._cause is not None:
            return
        try:
            try:
                self._writing = True
                while data:
                    data = data[_write(stream, data) :]
            finally:
                self._writing = False
        except _UnblockedError:
            return
        except BrokenPipeError as error:
            self._end(error)
        except OSError as error:
            self._end(OSError(error.errno, "cannot be written: " + os.strerror(error.errno or 0), STREAMS[stream]))

    def end(self, code: int) -> None:
        """End the command, then the verb with this code."""
        self._end(SystemExit(code))

    def _signalled(self, number: int, _: FrameType | None) -> None:
        self._end(SystemExit(SIGNAL_BASE + number))
        if self._writing:
            raise _UnblockedError

    def _end(self, cause: BaseException) -> None:
        self._cause = self._cause or cause
        if self._cancel is not None:
            self._cancel()


def _write(stream: int, data: memoryview) -> int:
    try:
        return os.write(stream, data)
    except BlockingIOError:
        # Another process that shares our stdout made it non-blocking.
        select.select([], [stream], [])
        return 0
