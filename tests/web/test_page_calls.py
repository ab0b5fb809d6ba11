"""The page holds a bounded number of calls, whatever their number, and does for a person what the feed allows."""

from __future__ import annotations

from pathlib import Path

from nacre.feed.follower import Follower
from nacre.jobs.table import JobTable
from nacre.web.board import Board
from nacre.web.page_calls import MOST_CARDS, PageCalls
from nacre.web.page_jobs import TOPIC


def page_calls(home: Path) -> tuple[PageCalls, Board[str]]:
    board: Board[str] = Board()
    return PageCalls(Follower(str(home)), board, JobTable(home)), board


async def test_calls_that_are_not_held_any_more_leave_nothing_on_the_board(home: Path) -> None:
    calls, board = page_calls(home)
    board.touch(TOPIC)
    for number in range(5 * MOST_CARDS):
        common = {"call": f"call-{number}", "time": float(number)}
        calls.take({**common, "event": "start", "command": "true"})
        calls.take({**common, "event": "output", "text": "x" * 1000})
        calls.take({**common, "event": "end", "outcome": "exited", "exitCode": 0})
    topics = [topic for _, topic in board.since(0)]
    assert len(topics) <= 2 * MOST_CARDS + 1
    assert topics[0] == TOPIC
    assert topics[-1] == f"call-{5 * MOST_CARDS - 1}"


async def test_what_does_not_run_or_ask_cannot_be_answered(home: Path) -> None:
    calls, _ = page_calls(home)
    calls.take({"call": "c", "event": "start", "command": "true"})
    assert not calls.stop("c")
    assert not calls.stop("unknown")
    assert not calls.decide("c", "q", "once")
    assert not calls.answer("c", "text")
    calls.take({"call": "c", "event": "waiting", "prompt": "? ", "hidden": False})
    # Its program has hung up.
    assert not calls.answer("c", "text")
