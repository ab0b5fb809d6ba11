"""The newest output of a running command, for a viewer: bounded, coalesced, never in the command's way."""

from __future__ import annotations

import asyncio

from nacre.output.decode import decode, trim_tail
from nacre.output.escapes import strip
from nacre.output.lines import settle
from nacre.output.redaction.redactor import Redactor

# What a live update shows at most: the whole current tail, not a delta.
TAIL_BYTES = 50 * 1024
# Updates come no closer together than this; what arrives in between is in the next one.
INTERVAL_SECONDS = 0.05


class LiveTail:
    """Fed by the run, read by one watcher."""

    def __init__(self) -> None:
        self._tail = bytearray()
        self._fresh = asyncio.Event()
        self._news = False
        self._ended = False
        self.redactor: Redactor | None = None
        """Knows the values that the command must not show; set by what feeds it."""
        self.terminal_id: str | None = None
        """The client's terminal that the command runs in, if it does."""
        self.job_id: str | None = None
        """The job whose terminal it runs in, if it does."""

    def place(self, terminal_id: str) -> None:
        """Tell where the command runs, before it has written anything."""
        self.terminal_id = terminal_id
        self._news = True
        self._fresh.set()

    def place_job(self, job_id: str) -> None:
        """Tell which job has the command's terminal, before it has written anything."""
        self.job_id = job_id
        self._news = True
        self._fresh.set()

    def feed(self, buffer: bytearray, size: int) -> None:
        self._tail += memoryview(buffer)[max(0, size - TAIL_BYTES) : size]
        if len(self._tail) > 2 * TAIL_BYTES:
            del self._tail[:-TAIL_BYTES]
        self._news = True
        self._fresh.set()

    def end(self) -> None:
        self._ended = True
        self._fresh.set()

    async def next(self) -> str | None:
        """The current tail once there is something new; None after the end, when all of it was told."""
        await self._fresh.wait()
        self._fresh.clear()
        if self._ended:
            # The next call must find the end again, also if this one still tells the last output.
            self._fresh.set()
        if not self._news:
            return None
        self._news = False
        text = settle(strip(decode(trim_tail(bytes(self._tail[-TAIL_BYTES:]))))).text
        return text if self.redactor is None else self.redactor.redact_text(text)
