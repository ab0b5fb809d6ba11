"""What ends a verb before its command has ended: a signal, or a reader that went away.

The command is ended with everything it started, and only then the verb. A handler of the event loop alone would not
do: the loop stands still while it writes to a pipe that nobody reads.
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
# What a shell reports for a program that signal n ended.
SIGNAL_BASE = 128
STREAMS = {1: "stdout", 2: "stderr"}

T = TypeVar("T")


class _UnblockedError(Exception):
    """Raised out of a write that would never return."""


class Interruption:
    """Watches over one awaited command."""

    def __init__(self) -> None:
        self._cancel: Callable[[], None] | None = None
        self._cause: BaseException | None = None
        self._writing = False
        self._before: dict[signal.Signals, Any] = {}

    def take_signals(self) -> None:
        """Take them before the loop begins, or asyncio takes SIGINT for itself and spends milliseconds on that."""
        self._before = {number: signal.signal(number, self._signalled) for number in SIGNALS}

    async def guard(self, work: Coroutine[Any, Any, T]) -> T:
        """Await the work; what interrupts it is raised once the work has been cancelled and has cleaned up."""
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
                # A short command can end before the cancellation reaches it; what it wrote is lost all the same.
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
        """Write the command's output to our own; when that fails there is no use in going on."""
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
        # Somebody who shares our stdout made it non-blocking.
        select.select([], [stream], [])
        return 0
