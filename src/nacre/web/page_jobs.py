"""The jobs of the state directory for the page: running ones first, looked at while a browser is there."""

from __future__ import annotations

import asyncio
from typing import Any

from nacre.errors import NacreError
from nacre.jobs.job import Job
from nacre.jobs.job_terminal import has_terminal
from nacre.jobs.status import label_of, outcome_of, status_of
from nacre.jobs.table import JobTable
from nacre.web.board import Board

TOPIC = "jobs"
LOOK_SECONDS = 0.5
MOST_JOBS = 100


class PageJobs:
    """The list of jobs, one topic of the board."""

    def __init__(self, table: JobTable, board: Board[str]) -> None:
        self.table = table
        self._board = board
        self.shown: dict[str, Any] = {"jobs": [], "problem": None}
        self.viewers = 0
        """Browsers that are there; the records are read for them only."""

    async def follow(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            if self.viewers:
                self.look()
            await asyncio.sleep(LOOK_SECONDS)

    def look(self) -> None:
        """Read the records; the board is touched if the list has changed."""
        try:
            found: dict[str, Any] = {"jobs": job_rows(self.table.list().jobs), "problem": None}
        except NacreError as error:
            found = {"jobs": [], "problem": str(error)}
        if found != self.shown:
            self.shown = found
            self._board.touch(TOPIC)


def job_rows(jobs: tuple[Job, ...]) -> list[dict[str, Any]]:
    """Return the newest jobs, running ones first."""
    ordered = sorted(jobs, key=lambda job: (job.running, job.record.get("startedAt") or 0), reverse=True)
    return [
        {
            "id": job.id,
            "command": label_of(job),
            "status": status_of(job),
            "state": outcome_of(job),
            "started": job.record.get("startedAt"),
            "ended": job.record.get("endedAt"),
            "terminal": has_terminal(job) and job.running,
            "note": job.note,
        }
        for job in ordered[:MOST_JOBS]
    ]
