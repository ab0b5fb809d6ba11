"""What has changed since a viewer last looked: topics with the number of their newest change. Pure but for the wait.

A viewer holds one number. It is sent the present state of each topic that changed later, so nothing is queued for it,
the newest state wins, and a change is never sent as a difference that could be applied twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

Topic = TypeVar("Topic")


class Board(Generic[Topic]):
    """Topics in the order of their newest change."""

    def __init__(self) -> None:
        self.revision = 0
        self._topics: dict[Topic, int] = {}
        self._changed = asyncio.Event()

    def touch(self, topic: Topic) -> None:
        """Record that a topic has changed."""
        self.revision += 1
        self._topics.pop(topic, None)
        self._topics[topic] = self.revision
        self._changed.set()

    def forget(self, topic: Topic) -> None:
        self._topics.pop(topic, None)

    def keep_only(self, wanted: Callable[[Topic], bool]) -> None:
        """Forget all other topics."""
        self._topics = {topic: number for topic, number in self._topics.items() if wanted(topic)}

    def since(self, revision: int) -> list[tuple[int, Topic]]:
        """Return the topics that changed after a revision, the oldest change first."""
        found: list[tuple[int, Topic]] = []
        for topic, number in reversed(self._topics.items()):
            if number <= revision:
                break
            found.append((number, topic))
        return found[::-1]

    async def wait(self, revision: int, seconds: float) -> bool:
        """Wait for a change after a revision; False if there is none within so many seconds."""
        try:
            async with asyncio.timeout(seconds):
                while self.revision <= revision:
                    # Every viewer waits for the same event; the first change after the last look sets it.
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return False
        return True
