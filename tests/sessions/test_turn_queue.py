"""The commands of a session have their turns one at a time, in the order in which they came."""

from __future__ import annotations

import asyncio

import pytest

from nacre.errors import SessionBusyError
from nacre.sessions.turn_queue import LABEL_CHARACTERS, TurnQueue


async def test_a_turn_is_passed_on_in_order() -> None:
    queue, order = TurnQueue(), []

    async def command(number: int) -> None:
        await queue.take(lambda: f"command {number}", None)
        order.append(number)
        await asyncio.sleep(0)
        queue.pass_on()

    await asyncio.gather(*(command(number) for number in range(5)))
    assert order == [0, 1, 2, 3, 4]
    assert not queue.busy


async def test_a_command_that_waits_too_long_hears_which_one_runs() -> None:
    queue = TurnQueue()
    await queue.take(lambda: "x" * 500, None)
    with pytest.raises(SessionBusyError, match=f"'{'x' * LABEL_CHARACTERS}'"):
        await queue.take(lambda: "late", 0.01)
    queue.pass_on()
    assert not queue.busy


async def test_a_cancelled_command_leaves_the_queue() -> None:
    queue = TurnQueue()
    await queue.take(lambda: "first", None)
    waiting = asyncio.create_task(queue.take(lambda: "second", None))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    queue.pass_on()
    assert not queue.busy


async def test_a_command_that_is_cancelled_in_the_moment_of_its_turn_passes_it_on() -> None:
    queue = TurnQueue()
    await queue.take(lambda: "first", None)
    second = asyncio.create_task(queue.take(lambda: "second", None))
    third = asyncio.create_task(queue.take(lambda: "third", None))
    await asyncio.sleep(0)
    queue.pass_on()
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    await third
    assert queue.running_command() == "third"
