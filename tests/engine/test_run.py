"""A run ends when nothing more can come of its command."""

from __future__ import annotations

import asyncio

from nacre.backend import Ending, Survivor
from nacre.command import Command
from nacre.engine.run import EndWatch


class Nothing:
    def feed(self, stream: int, buffer: bytearray, size: int) -> None:
        raise AssertionError("nothing was written")


async def test_the_pipe_of_what_cannot_be_killed_is_not_waited_for() -> None:
    """The time for the end of the command was spent on killing it."""
    command = Command(script="cat", cwd="/", env={}, timeout=1, grace=1)
    watch = EndWatch(command, Nothing(), asyncio.get_running_loop())
    stuck = Survivor(1, ("cat",), "D")
    ending = Ending(pid=1, why="timeout", forced=True, left=True, unkillable=(stuck,))
    watch.exited(ending)
    assert watch.over
    assert watch.ending is ending
