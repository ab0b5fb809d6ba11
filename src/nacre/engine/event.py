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


async def happened(until: Until, capture: Capture, *, cwd: str) -> None:
    """Return when it has happened; never, if it does not.

    Raises:
        RegexWorkError: the expression takes too much work on this output.
        NacreError: the file cannot be looked for.
    """
    if until.regex is not None:
        await _line(until.regex, capture)
    elif until.port is not None:
        while not await port_open(until.port):  # noqa: ASYNC110 - a port does not tell when it opens
            await asyncio.sleep(LOOK_SECONDS)
    elif until.file is not None:
        await file_appears(os.path.join(cwd, until.file))
    elif until.quiet is not None:
        await _silence(until.quiet, capture)


async def _line(regex: str, capture: Capture) -> None:
    watch = RegexWatch(regex)
    wrote = asyncio.Event()

    problem: RegexWorkError | None = None

    def feed(data: bytes) -> None:
        # Called while output is read, which goes on whatever is the matter with the expression.
        nonlocal problem
        if problem is None:
            try:
                watch.feed(data)
            except RegexWorkError as error:
                problem = error
        wrote.set()

    capture.watch(feed)
    while not watch.found:
        await wrote.wait()
        wrote.clear()
        if problem is not None:
            raise problem
        if not watch.found:
            # A prompt ends without a newline: once nothing follows for a moment, its end is the end of a line.
            try:
                async with asyncio.timeout(LOOK_SECONDS):
                    await wrote.wait()
            except TimeoutError:
                if watch.pause():
                    return


async def _silence(seconds: float, capture: Capture) -> None:
    wrote = asyncio.Event()
    capture.watch(lambda _: wrote.set())
    while True:
        wrote.clear()
        try:
            async with asyncio.timeout(seconds):
                await wrote.wait()
        except TimeoutError:
            return
