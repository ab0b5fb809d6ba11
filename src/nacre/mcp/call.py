"""Runs one tool call inside a request of the SDK: reports progress, and cleans up when cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing

import anyio

from nacre.contracts.contract import Reply
from nacre.tool import Tool

# Often enough to follow, rare enough for a client that shows every report.
INTERVAL_SECONDS = 0.25
# A report has the newest lines only; the result has the whole tail.
TAIL_CHARACTERS = 4_000

Report = Callable[[float, str], Awaitable[None]]
"""Sends the client the seconds since the start and the newest output."""


class GoneError(Exception):
    """The client is gone; its call was ended with everything it started."""


async def run_call(tool: Tool, arguments: object, report: Report | None, *, gone: asyncio.Event | None = None) -> Reply:
    """Run the call; if it is cancelled or its client is gone, return only after its processes have ended.

    The SDK cancels a scope repeatedly until it is left, which would interrupt cleanup; so the call is a task outside
    that scope.
    """
    work = asyncio.create_task(tool.call(arguments) if report is None else _reported(tool, arguments, report))
    watch = None if gone is None else asyncio.create_task(gone.wait())
    try:
        await asyncio.wait([work] if watch is None else [work, watch], return_when=asyncio.FIRST_COMPLETED)
    finally:
        if watch is not None:
            watch.cancel()
        if not work.done():
            work.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait([work])
    if work.cancelled():
        raise GoneError
    return work.result()


async def _reported(tool: Tool, arguments: object, report: Report) -> Reply:
    clock = asyncio.get_running_loop().time
    started = clock()
    async with aclosing(tool.stream(arguments, interval=INTERVAL_SECONDS)) as updates:
        async for update in updates:
            if isinstance(update, Reply):
                return update
            await report(round(clock() - started, 3), newest(update.text))
    raise AssertionError("a stream ends with its reply")


def newest(text: str) -> str:
    """Return the last lines of a tail, starting at a whole line if that costs less than half."""
    if len(text) <= TAIL_CHARACTERS:
        return text
    cut = text[-TAIL_CHARACTERS:]
    line = cut.find("\n") + 1
    return cut[line:] if line <= TAIL_CHARACTERS // 2 else cut
