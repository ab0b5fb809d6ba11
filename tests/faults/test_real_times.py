"""A command of 65 s as a job: outside the quick suite, `make test-long` runs it.

The same behaviour is tested in fractions of a second beside the contract; here nothing is shortened, so that a limit
which only a long command meets (an idle runner, a timer, a lease) would show.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from outside import Program, alive

from nacre.jobs.polling import poll
from nacre.jobs.table import JobTable
from nacre.settings import JobSettings, Settings
from nacre.tool import Tool
from nacre.tool_events import Notice

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]

SECONDS = 65
WINDOW = 2.0
COMMAND = f"echo begun; sleep {SECONDS}; echo done; exit 3"

HOST = f"""
import asyncio, json, sys
import nacre
from nacre.settings import JobSettings, Settings

async def main():
    tool = nacre.Tool("workspace", settings=Settings(jobs=JobSettings(auto_background_seconds={WINDOW})))
    reply = await tool.call({{"command": sys.argv[1]}})
    print(json.dumps(reply.details), flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def told(tool: Tool, last: str) -> list[Notice]:
    """All notices up to the one of this job."""
    found: list[Notice] = []
    async for notice in tool.notices():
        found.append(notice)
        if notice.job_id == last:
            break
    return found


async def assert_told_once(tool: Tool, job_id: str, home: Path) -> None:
    assert (await poll(JobTable(home), [job_id], wait=SECONDS + 30)).reason == "ended"
    assert (JobTable(home).root / job_id / "output").read_text(encoding="utf-8") == "begun\ndone\n"
    # The end of a second job is the mark behind which nothing more can come of the first.
    mark = await tool.call({"command": "sleep 0.1", "async": True})
    found = await told(tool, mark.details["async"]["jobId"])
    assert [(one.job_id, one.details["exitCode"]) for one in found if one.job_id == job_id] == [(job_id, 3)]
    assert JobTable(home).get(job_id).record["state"] == "exited"


async def test_a_command_of_65_s_moves_to_the_background_after_2_and_is_told_of_once(
    home: Path, tmp_path: Path
) -> None:
    tool = Tool("workspace", cwd=tmp_path, settings=Settings(jobs=JobSettings(auto_background_seconds=WINDOW)))
    begun = time.monotonic()
    reply = await tool.call({"command": COMMAND})
    assert WINDOW <= time.monotonic() - begun < SECONDS
    job = JobTable(home).get(reply.details["async"]["jobId"])
    assert job.running
    assert alive(job.record["pid"])
    assert reply.text.startswith("begun\n\nBackground job ")
    await assert_told_once(tool, job.id, home)
    # It ran its whole time: moving it restarted nothing and cut nothing off.
    ended = JobTable(home).get(job.id).record
    assert ended["endedAt"] - ended["startedAt"] >= SECONDS


async def test_the_same_across_a_sigkill_and_restart_of_nacre(home: Path, tmp_path: Path) -> None:
    host = Program(HOST, COMMAND)
    job_id = (await asyncio.to_thread(host.json))["async"]["jobId"]
    host.kill()
    assert alive(JobTable(home).get(job_id).record["pid"])
    tool = Tool("workspace", cwd=tmp_path, settings=Settings())
    await assert_told_once(tool, job_id, home)
