"""The list of jobs is read while a browser is there, and told when it has changed."""

from __future__ import annotations

from pathlib import Path

import nacre
from nacre.jobs.table import JobTable
from nacre.web.board import Board
from nacre.web.page_jobs import TOPIC, PageJobs


async def test_a_list_is_told_once_for_each_change(home: Path) -> None:
    board: Board[str] = Board()
    jobs = PageJobs(JobTable(home), board)
    jobs.look()
    assert board.revision == 0
    async with nacre.Tool("workspace") as tool:
        await tool.call({"command": "true", "async": True})
        await tool.call({"command": "exec sleep 600", "async": True, "pty": True})
        jobs.look()
        jobs.look()
        assert jobs.shown["jobs"][0] | {"started": None} == {
            "id": "bg_2",
            "command": "exec sleep 600",
            "status": "running",
            "state": "running",
            "started": None,
            "ended": None,
            "terminal": True,
            "note": None,
        }
        jobs.table.stop("bg_2")
    assert [topic for _, topic in board.since(0)] == [TOPIC]


def test_a_directory_that_cannot_be_listed_is_said(home: Path) -> None:
    home.mkdir()
    (home / "jobs").write_text("", encoding="utf-8")
    jobs = PageJobs(JobTable(home), Board())
    jobs.look()
    assert jobs.shown["jobs"] == []
    assert "no job can be listed" in str(jobs.shown["problem"])
