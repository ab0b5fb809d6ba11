"""Real jobs for the tests of this folder."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from nacre.jobs.job import Job
from nacre.jobs.table import JobTable
from nacre.tool import Tool

Start = Callable[[str], Awaitable[Job]]


@pytest.fixture
def table(home: Path) -> JobTable:
    return JobTable(home)


@pytest.fixture
def start(table: JobTable) -> Start:
    """Start a command as a job."""

    async def start(command: str) -> Job:
        reply = await Tool("modes").call({"command": command, "mode": "background"})
        assert not reply.is_error, reply.text
        return table.get(reply.details["jobId"])

    return start
