"""What the tests of the feed share: a follower, and the events of a call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from nacre.feed.follower import Follower

PATIENCE_SECONDS = 30.0

Event = dict[str, Any]


@asynccontextmanager
async def following(home: Path) -> AsyncIterator[Follower]:
    async with Follower(str(home)) as feed:
        yield feed


async def until(feed: Follower, wanted: Callable[[Event], bool]) -> list[Event]:
    """Return the events up to the first that is wanted."""
    events: list[Event] = []
    async with asyncio.timeout(PATIENCE_SECONDS):
        async for event in feed:
            events.append(event)
            if wanted(event):
                break
    return events


async def until_ends(feed: Follower, count: int = 1) -> list[Event]:
    """Return the events up to the end of so many calls."""
    events: list[Event] = []
    for _ in range(count):
        events += await until(feed, lambda event: event["event"] == "end")
    return events


def kinds(events: list[Event]) -> list[str]:
    return [event["event"] for event in events]


def text_of(events: list[Event]) -> str:
    return "".join(event["text"] for event in events if event["event"] == "output")
