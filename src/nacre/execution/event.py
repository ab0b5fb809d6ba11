"""Waits for the event that a call asked for, while its command runs: in the output, or on this machine."""

from __future__ import annotations

import asyncio
import os

from nacre.execution.capture import Capture
from nacre.output.watch import RegexWatch
from nacre.until import Until, port_open

# Ports and files have no way to tell of themselves; this is how often they are asked.
LOOK_SECONDS = 0.05


async def happened(until: Until, capture: Capture, *, cwd: str) -> None:
    """Return when it has happened; never, if it does not."""
    if until.regex is not None:
        await _line(until.regex, capture)
    elif until.port is not None:
        while not await port_open(until.port):  # noqa: ASYNC110 - a port does not tell when it opens
            await asyncio.sleep(LOOK_SECONDS)
    elif until.file is not None:
        path = os.path.join(cwd, until.file)
        while not os.path.exists(path):  # noqa: ASYNC110 - it may come into being in a directory that does not exist yet
            await asyncio.sleep(LOOK_SECONDS)
    elif until.quiet is not None:
        await _silence(until.quiet, capture)


async def _line(regex: str, capture: Capture) -> None:
    watch = RegexWatch(regex)
    wrote = asyncio.Event()

    def feed(data: bytes) -> None:
        watch.feed(data)
        wrote.set()

    capture.watch(feed)
    while not watch.found:
        await wrote.wait()
        wrote.clear()
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
