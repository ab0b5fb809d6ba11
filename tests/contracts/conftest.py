"""Fixtures of the contract tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from workbench import Workbench


@pytest.fixture
async def bench(tmp_path: Path, home: Path) -> AsyncIterator[Workbench]:
    cwd = tmp_path / "work"
    cwd.mkdir()
    bench = Workbench(cwd, home)
    yield bench
    running = [job.id for job in bench.jobs.list().jobs if job.running]
    for job_id in running:
        bench.jobs.stop(job_id)
    for job_id in running:
        await bench.ended(job_id)
