"""A viewer is told the present state of what changed since it looked, each topic once."""

from __future__ import annotations

import asyncio

from nacre.web.board import Board


def test_topics_come_in_the_order_of_their_newest_change_each_once() -> None:
    board: Board[str] = Board()
    for topic in ("a", "b", "a", "c", "a"):
        board.touch(topic)
    assert board.since(0) == [(2, "b"), (4, "c"), (5, "a")]
    assert board.since(4) == [(5, "a")]
    assert board.since(5) == []
    board.forget("a")
    assert board.since(0) == [(2, "b"), (4, "c")]
    board.keep_only(lambda topic: topic == "c")
    assert board.since(0) == [(4, "c")]


def test_a_flood_of_changes_of_one_topic_holds_one_entry() -> None:
    board: Board[str] = Board()
    for _ in range(10_000):
        board.touch("flood")
    assert board.since(0) == [(10_000, "flood")]


async def test_every_viewer_that_waits_is_woken() -> None:
    board: Board[str] = Board()
    waiting = [asyncio.create_task(board.wait(0, 5)) for _ in range(3)]
    await asyncio.sleep(0)
    board.touch("a")
    assert await asyncio.gather(*waiting) == [True, True, True]
    assert await board.wait(0, 5)


async def test_a_wait_without_a_change_ends() -> None:
    assert not await Board[str]().wait(0, 0.01)
