"""One tool call: its progress on the way, and nothing left of it when its client is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing

from nacre.contracts.contract import Reply
from nacre.tool import Tool

# Often enough to follow, seldom enough for a client that shows every one.
INTERVAL_SECONDS = 0.25
# The newest lines; the whole tail goes to the result.
TAIL_CHARACTERS = 4_000

Report = Callable[[float, str], Awaitable[None]]
"""Tells the client: seconds since the start, and the newest output."""


class GoneError(Exception):
    """The client went away before its call had ended; everything of it has been ended."""


async def run_call(tool: Tool, arguments: object, report: Report | None, *, gone: asyncio.Event | None = None) -> Reply:
    """Run the call to its end; when its client is gone, return only after everything of it has ended."""
    work = tool.call(arguments) if report is None else _reported(tool, arguments, report)
    if gone is None:
        return await work
    running, watching = asyncio.create_task(work), asyncio.create_task(gone.wait())
    try:
        await asyncio.wait([running, watching], return_when=asyncio.FIRST_COMPLETED)
    finally:
        watching.cancel()
        if not running.done():
            running.cancel()
            await asyncio.wait([running])
    if running.cancelled():
        raise GoneError
    return running.result()


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
    """The last lines of a tail, whole ones where that costs less than half."""
    if len(text) <= TAIL_CHARACTERS:
        return text
    cut = text[-TAIL_CHARACTERS:]
    line = cut.find("\n") + 1
    return cut[line:] if line <= TAIL_CHARACTERS // 2 else cut
