"""Takes over the terminal of a job: its screen is drawn here, and every key but one goes to its program."""

from __future__ import annotations

import asyncio
import contextlib
import time

from nacre.cli.own_terminal import OwnTerminal, own_size
from nacre.cli.screen_window import ScreenWindow
from nacre.command import TerminalSize
from nacre.errors import JobError
from nacre.jobs import job_terminal
from nacre.jobs.job import Job
from nacre.jobs.terminal_view import TerminalView
from nacre.jobs.typed_input import TypedInput

GIVE_BACK = b"\x1d"
# How often the screen is drawn: after a key, and otherwise.
SOON_SECONDS, FRAME_SECONDS, BUSY_SECONDS = 0.005, 0.03, 0.3


class TakeOver:
    """One person at the terminal of one job."""

    def __init__(self, job: Job) -> None:
        """Raises JobError where the job has no terminal, ScreenUnavailableError without an emulator."""
        self._job = job
        self._view = TerminalView(job)
        state = job_terminal.state(job)
        self._before = None if state is None else state.size
        self._input = TypedInput(job)
        self._over = asyncio.Event()
        self._typed_at = 0.0

    async def run(self) -> None:
        """Show and type until the person gives it back, or it ends."""
        terminal = OwnTerminal(typed=self._type, resized=self._resize)
        try:
            with terminal:
                self._resize(own_size())
                window = ScreenWindow(terminal)
                try:
                    await self._draw(window)
                finally:
                    window.close()
                    await terminal.drained()
        finally:
            self._input.close()
            self._view.close()
            if self._before is not None:
                self._set_size(self._before)

    async def _draw(self, window: ScreenWindow) -> None:
        while not self._over.is_set():
            self._view.update()
            size = own_size()
            window.draw(self._view.screen, self._line(), columns=size.columns, rows=size.rows)
            if self._view.ended:
                return
            soon = time.monotonic() - self._typed_at < BUSY_SECONDS
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SOON_SECONDS if soon else FRAME_SECONDS):
                    await self._over.wait()

    def _line(self) -> str:
        waiting = self._view.waiting
        asks = "" if waiting is None else f" · waits for {'hidden input' if waiting.hidden else 'input'}"
        return f" {self._job.id} taken over{asks} · Ctrl-] gives it back"

    def _type(self, data: bytes) -> None:
        keys, given_back, _ = data.partition(GIVE_BACK)
        self._typed_at = time.monotonic()
        self._input.type(keys)
        if given_back:
            self._over.set()

    def _resize(self, size: TerminalSize) -> None:
        self._set_size(TerminalSize(size.columns, max(1, size.rows - 1)))

    def _set_size(self, size: TerminalSize) -> None:
        # It may have ended in this moment.
        with contextlib.suppress(JobError):
            job_terminal.resize(self._job, *size)
