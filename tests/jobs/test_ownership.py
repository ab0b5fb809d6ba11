"""Jobs belong to a session and a project: lists show one's own, and the end of a job is told to its own client."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from nacre import Tool
from nacre.jobs.polling import poll
from nacre.jobs.table import JobTable
from nacre.warden import record
from nacre.warden.path_lookup import project_of

PATIENCE_SECONDS = 30.0


async def started(tool: Tool, command: str = "true", **arguments: Any) -> str:
    """The id of a job that has ended, or that a call says is running."""
    field = {"async": True} if tool.contract == "workspace" else {"mode": "background"}
    reply = await tool.call({"command": command, **field, **arguments})
    assert not reply.is_error, reply.text
    details = reply.details
    return str(details["jobId"] if "jobId" in details else details["async"]["jobId"])


async def ended(home: Path, *ids: str) -> None:
    for job_id in ids:
        found = await poll(JobTable(home), [job_id], wait=PATIENCE_SECONDS)
        assert found.reason == "ended"


def listed(reply: Any) -> list[str]:
    return [job["id"] for job in reply.details["jobs"]]


def jobs_list(cwd: Path, *more: str) -> tuple[list[str], str]:
    """What the command line lists in a directory, and what it says beside."""
    verb = [sys.executable, "-m", "nacre", "jobs", "list", "--json", *more]
    done = subprocess.run(verb, cwd=cwd, capture_output=True, text=True, check=True, timeout=PATIENCE_SECONDS)
    return [job["id"] for job in json.loads(done.stdout)], done.stderr


@pytest.fixture
def projects(tmp_path: Path) -> tuple[Path, Path]:
    """Two directories that are projects, one by each mark."""
    one, other = tmp_path / "one", tmp_path / "other"
    (one / ".git").mkdir(parents=True)
    (one / "deep" / "down").mkdir(parents=True)
    other.mkdir()
    (other / "nacre.toml").write_text("", encoding="utf-8")
    return one, other


# Projects.


def test_a_project_is_the_nearest_marked_directory_else_the_directory(projects: tuple[Path, Path]) -> None:
    one, other = projects
    assert project_of(str(one / "deep" / "down")) == str(one)
    assert project_of(str(other)) == str(other)
    assert project_of(str(one.parent)) == str(one.parent)
    (one.parent / "link").symlink_to(one)
    assert project_of(str(one.parent / "link" / "deep")) == str(one)


async def test_a_list_shows_the_jobs_of_its_project_and_counts_the_others(
    home: Path, projects: tuple[Path, Path]
) -> None:
    one, other = projects
    async with Tool("workspace", cwd=one) as first, Tool("workspace", cwd=other) as second:
        mine = await started(first)
        theirs = [await started(second), await started(second)]
        await ended(home, mine, *theirs)
    async with Tool("job", cwd=one / "deep") as companion:
        reply = await companion.call({"list": True})
        assert (listed(reply), reply.details["others"]) == ([mine], 2)
        assert reply.text.endswith("[2 jobs of other projects are not listed; add all: true to see them]")
        assert listed(await companion.call({"list": True, "all": True})) == [mine, *theirs]
        assert "others" not in (await companion.call({"list": True, "all": True})).details
    assert jobs_list(one / "deep") == ([mine], "nacre: 2 jobs of other projects are not listed; --all lists them\n")
    assert jobs_list(one, "--all") == ([mine, *theirs], "")


async def test_a_job_elsewhere_belongs_to_the_project_of_its_tool(home: Path, projects: tuple[Path, Path]) -> None:
    one, other = projects
    async with Tool("workspace", cwd=one) as tool:
        job_id = await started(tool, cwd=str(other))
        await ended(home, job_id)
    assert jobs_list(one)[0] == [job_id]
    assert jobs_list(other)[0] == []


async def test_a_job_of_the_same_session_is_ones_own_in_any_project(home: Path, projects: tuple[Path, Path]) -> None:
    one, other = projects
    async with Tool("workspace", cwd=one, session="alice") as tool:
        job_id = await started(tool)
        await ended(home, job_id)
    for session, found in (("alice", [job_id]), ("bob", []), (None, [])):
        async with Tool("job", cwd=other, session=session) as companion:
            assert listed(await companion.call({"list": True})) == found


async def test_to_wait_for_all_is_to_wait_for_ones_own(home: Path, projects: tuple[Path, Path]) -> None:
    one, other = projects
    async with Tool("workspace", cwd=one) as tool, Tool("job", cwd=other) as companion:
        job_id = await started(tool, "sleep 1000")
        assert (await companion.call({"poll": []})).text == "No jobs are running."
        # By its id every job is found.
        assert listed(await companion.call({"cancel": [job_id]})) == [job_id]
        await ended(home, job_id)


async def test_a_field_that_is_no_truth_value_is_refused(tmp_path: Path) -> None:
    async with Tool("job", cwd=tmp_path) as companion:
        reply = await companion.call({"list": True, "all": "yes"})
    assert (reply.is_error, reply.text) == (True, "field 'all' must be true or false, got \"yes\"")


def test_a_record_of_an_earlier_version_belongs_to_the_project_it_ran_in(projects: tuple[Path, Path]) -> None:
    one, other = projects
    table = JobTable(os.environ["NACRE_HOME"])
    job_id, directory = table.allot()
    facts = {"id": job_id, "version": record.VERSION, "state": "exited", "exitCode": 0, "closed": True}
    record.write(str(directory), facts | {"cwd": str(one / "deep")})
    assert jobs_list(one)[0] == [job_id]
    assert jobs_list(other)[0] == []


# Notices.


async def told(tool: Tool, *, until: str, **options: Any) -> AsyncIterator[str]:
    """The jobs that a tool hears of, up to one."""
    async with asyncio.timeout(PATIENCE_SECONDS), aclosing(tool.notices(**options)) as notices:
        async for notice in notices:
            yield notice.job_id
            if notice.job_id == until:
                return


async def test_the_end_of_a_job_is_told_to_its_own_tool_only(home: Path, tmp_path: Path) -> None:
    async with Tool("modes", cwd=tmp_path) as first, Tool("modes", cwd=tmp_path) as second:
        jobs = [await started(first), await started(second), await started(first), await started(second)]
        await ended(home, *jobs)
        assert [job async for job in told(second, until=jobs[3])] == [jobs[1], jobs[3]]
        assert [job async for job in told(first, until=jobs[2])] == [jobs[0], jobs[2]]


async def test_a_program_that_serves_several_clients_hears_of_all_its_jobs(home: Path, tmp_path: Path) -> None:
    async with Tool("modes", cwd=tmp_path) as first, Tool("modes", cwd=tmp_path) as second:
        jobs = [await started(first), await started(second)]
        await ended(home, *jobs)
        assert [job async for job in told(first, until=jobs[1], program=True)] == jobs


async def test_jobs_of_a_program_that_is_gone_are_told_in_their_project_only(
    home: Path, projects: tuple[Path, Path]
) -> None:
    one, other = projects
    call = [sys.executable, "-m", "nacre", "call", "modes", '{"command": "true", "mode": "background"}']
    ids = []
    for cwd in (one, other):
        done = subprocess.run(call, cwd=cwd, capture_output=True, check=True, timeout=PATIENCE_SECONDS)
        ids.append(json.loads(done.stdout)["details"]["jobId"])
    await ended(home, *ids)
    async with Tool("modes", cwd=other) as tool:
        marker = await started(tool)
        await ended(home, marker)
        assert [job async for job in told(tool, until=marker)] == [ids[1], marker]


async def test_jobs_of_a_named_session_are_told_to_that_session_only(home: Path, tmp_path: Path) -> None:
    script = (
        "import asyncio, sys, nacre\n"
        "async def main():\n"
        "    async with nacre.Tool('modes', cwd=sys.argv[1], session='alice') as tool:\n"
        "        await tool.call({'command': 'true', 'mode': 'background'})\n"
        "asyncio.run(main())"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True, timeout=PATIENCE_SECONDS)
    await ended(home, "bg_1")
    async with Tool("modes", cwd=tmp_path, session="bob") as bob:
        marker = await started(bob)
        await ended(home, marker)
        assert [job async for job in told(bob, until=marker)] == [marker]
    async with Tool("modes", cwd=tmp_path, session="alice") as alice:
        assert [job async for job in told(alice, until="bg_1")] == ["bg_1"]
