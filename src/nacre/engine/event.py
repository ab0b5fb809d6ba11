"""Waits for the event that a call asked for, while its command runs: in the output, or on this machine."""

from __future__ import annotations

import asyncio
import os

from nacre.engine.capture import Capture
from nacre.output.regex_watch import RegexWatch
from nacre.regex.automaton import RegexWorkError
from nacre.until import Until, port_open
from nacre.warden_client.path_query import file_appears

# Ports and files have no way to tell of themselves; this is how often they are asked.
LOOK_SECONDS = 0.05


class Event:
    """What a call waits for. Made before its command starts, so that it sees the first byte of the output."""

    def __init__(self, until: Until, capture: Capture, *, cwd: str) -> None:
        self._until = until
        self._cwd = cwd
        self._wrote = asyncio.Event()
        self._line = RegexWatch(until.regex) if until.regex is not None else None
        self._problem: RegexWorkError | None = None
        if until.regex is not None or until.quiet is not None:
            capture.watch(self._feed)

    def _feed(self, data: bytes) -> None:
        # Called while output is read, which goes on whatever is the matter with the expression.
        if self._line is not None and self._problem is None:
            try:
                self._line.feed(data)
            except RegexWorkError as error:
                self._problem = error
        self._wrote.set()

    async def happened(self) -> None:
        """Return when it has happened; never, if it does not.

        Raises:
            RegexWorkError: the expression takes too much work on this output.
            NacreError: the file cannot be looked for.
        """
        until = self._until
        if self._line is not None:
            await self._matched(self._line)
        elif until.port is not None:
            while not await port_open(until.port):  # noqa: ASYNC110 - a port does not tell when it opens
                await asyncio.sleep(LOOK_SECONDS)
        elif until.file is not None:
            await file_appears(os.path.join(self._cwd, until.file))
        else:
            assert until.quiet is not None
            while await self._writes_within(until.quiet):
                pass

    async def _matched(self, line: RegexWatch) -> None:
        while not line.found:
            await self._wrote.wait()
            self._wrote.clear()
            if self._problem is not None:
                raise self._problem
            if await self._at_prompt(line):
                return

    async def _at_prompt(self, line: RegexWatch) -> bool:
        """True if an unfinished line matches and nothing follows it for a moment: a prompt ends without a newline."""
        return not line.found and not await self._writes_within(LOOK_SECONDS) and line.pause()

    async def _writes_within(self, seconds: float) -> bool:
        """True if output comes within that time."""
        self._wrote.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._wrote.wait()
        except TimeoutError:
            return False
        return True
