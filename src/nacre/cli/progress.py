"""One line below the output of a long command: how long, how much, its last line. Drawn on a terminal only."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from nacre.guard.approval import Approver
    from nacre.guard.verdict import Verdict

# A command that ends before this needs no progress.
FIRST_SECONDS = 2.0
# Output that still comes is progress enough.
SILENT_SECONDS = 1.0
DRAW_SECONDS = 0.5
LAST_LINE_BYTES = 4096
_ERASE = "\r\x1b[K"

PassThrough = Callable[[int, memoryview], None]


def wants_progress(out: TextIO) -> bool:
    """True if a line can be drawn and erased there."""
    return out.isatty() and os.environ.get("TERM") not in (None, "", "dumb")


class Progress:
    """Counts what passes, and draws a line while nothing does."""

    def __init__(self, out: TextIO, *, since: float | None = None) -> None:
        """Draw on a terminal.

        Args:
            since: when the command was started, in seconds since the epoch; now if None.
        """
        self._out = out
        self._started = time.monotonic() - (0.0 if since is None else max(0.0, time.time() - since))
        self._passed_at = self._started
        self._drawn = False
        self._held = False
        self._at_start = True
        """Whether the cursor is at the beginning of a row, so that nothing of the output is overwritten."""
        self._shown = {stream: os.isatty(stream) for stream in (1, 2)}
        self.size = 0
        self.lines = 0
        self.last = b""

    def passing(self, write: PassThrough) -> PassThrough:
        """Return what counts output and then passes it on."""

        def passed(stream: int, data: memoryview) -> None:
            self.erase()
            self.count(data)
            if self._shown.get(stream) and data:
                self._passed_at = time.monotonic()
                self._at_start = data[-1] == ord("\n")
            write(stream, data)

        return passed

    def count(self, data: memoryview | bytes) -> None:
        """Take note of output."""
        block = bytes(data)
        self.size += len(block)
        self.lines += block.count(b"\n")
        self.last = (self.last + block[-LAST_LINE_BYTES:])[-LAST_LINE_BYTES:]

    def asking(self, approver: Approver | None) -> Approver | None:
        """Return an approver during whose question nothing is drawn."""
        if approver is None:
            return None

        async def ask(command: str, verdict: Verdict) -> bool:
            with self._holding():
                return await approver(command, verdict)

        return ask

    @contextlib.contextmanager
    def _holding(self) -> Iterator[None]:
        self.erase()
        self._held = True
        try:
            yield
        finally:
            self._held = False

    @asynccontextmanager
    async def drawing(self) -> AsyncIterator[None]:
        """Draw while this lasts."""
        drawing = asyncio.create_task(self._draw_on())
        try:
            yield
        finally:
            drawing.cancel()
            await asyncio.wait([drawing])
            self.erase()

    async def _draw_on(self) -> None:
        await asyncio.sleep(FIRST_SECONDS)
        while True:
            if time.monotonic() - self._passed_at >= SILENT_SECONDS:
                self.draw()
            await asyncio.sleep(DRAW_SECONDS)

    def draw(self) -> None:
        if self._held or not self._at_start:
            return
        from nacre.cli.card_printing import columns_of
        from nacre.feed.folding import cut_to

        line = cut_to(self.text(), columns_of(self._out) - 1)
        self._write(f"{_ERASE}{line}" if os.environ.get("NO_COLOR") else f"{_ERASE}\x1b[2m{line}\x1b[0m")
        self._drawn = True

    def text(self) -> str:
        """Return what the line says."""
        from nacre.jobs.status import spell_seconds
        from nacre.output.decode import decode, trim_tail
        from nacre.output.escapes import strip
        from nacre.output.sizes import human_size
        from nacre.wording import counted

        parts = [f"running {spell_seconds(time.monotonic() - self._started)}"]
        if self.size:
            parts += [human_size(self.size), counted(self.lines, "line")]
            lines = strip(decode(trim_tail(self.last))).replace("\r", "\n").split("\n")
            parts += [line.expandtabs(4).strip() for line in lines if line.strip()][-1:]
        return " · ".join(parts)

    def erase(self) -> None:
        if self._drawn:
            self._write(_ERASE)
            self._drawn = False

    def _write(self, text: str) -> None:
        # A terminal that is gone takes no line; how the command ends is told by its exit code.
        with contextlib.suppress(OSError):
            self._out.write(text)
            self._out.flush()
