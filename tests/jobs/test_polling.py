"""Waiting for jobs: returns for the right reason, reads nothing twice, and can be left at any time."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from nacre.jobs.job import Job
from nacre.jobs.output_file import JobFile
from nacre.jobs.polling import MOST_SCANS, Poll, Scans, poll
from nacre.jobs.table import JobTable
from nacre.until import Until

Start = Callable[[str], Awaitable[Job]]


async def end(table: JobTable, job: Job) -> None:
    table.stop(job.id)
    assert (await poll(table, [job.id], wait=30)).reason == "ended"


async def test_a_poll_returns_when_any_of_the_jobs_ends(table: JobTable, start: Start) -> None:
    long, short = await start("sleep 1000"), await start("exit 3")
    found = await poll(table, [long.id, short.id], wait=30)
    assert (found.reason, found.by, [job.state for job in found.jobs]) == ("ended", short.id, ["running", "exited"])
    assert found.jobs[1].record["exitCode"] == 3
    await end(table, long)


async def test_a_poll_returns_at_its_limit_with_the_job_running(table: JobTable, start: Start) -> None:
    job = await start("sleep 1000")
    found = await poll(table, [job.id], wait=0)
    assert (found.reason, found.jobs[0].state) == ("wait", "running")
    await end(table, job)


async def test_unknown_ids_are_named_and_the_others_are_watched(table: JobTable, start: Start) -> None:
    job = await start("true")
    found = await poll(table, ["bg_77", job.id, "../x", job.id], wait=30)
    assert (found.unknown, [one.id for one in found.jobs]) == (("bg_77", "../x"), [job.id])
    assert await poll(table, ["bg_77"]) == Poll(jobs=(), unknown=("bg_77",), reason="ended")


async def test_a_line_is_found_wherever_it_appears_and_the_line_is_told(table: JobTable, start: Start) -> None:
    job = await start("echo starting; printf 'Local: \\033[1mhttp://x\\033[0m/ ready'; sleep 1000")
    found = await poll(table, [job.id], until=Until(regex=r"http://\w+/"), wait=30)
    assert (found.reason, found.by) == ("matched", job.id)
    assert found.line is not None
    assert found.line.startswith("Local: http://x/")
    await end(table, job)


async def test_a_prompt_without_line_end_matches_its_end(table: JobTable, start: Start) -> None:
    job = await start("printf 'Password: '; sleep 1000")
    found = await poll(table, [job.id], until=Until(regex="Password: $"), wait=30)
    assert (found.reason, found.line) == ("matched", "Password: ")
    await end(table, job)


async def test_a_line_written_before_the_end_counts_although_the_job_has_ended(table: JobTable, start: Start) -> None:
    job = await start("echo ready")
    await poll(table, [job.id], wait=30)
    assert (await poll(table, [job.id], until=Until(regex="ready"), wait=30)).reason == "matched"
    assert (await poll(table, [job.id], until=Until(regex="never"), wait=30)).reason == "ended"


async def test_each_poll_finds_the_next_line_and_none_twice(table: JobTable, start: Start) -> None:
    job = await start("printf 'tick 1\\ntick 2\\nno\\ntick 3\\n'; sleep 1000")
    scans = Scans()
    lines = [(await poll(table, [job.id], until=Until(regex="^tick"), wait=30, scans=scans)).line for _ in range(3)]
    assert lines == ["tick 1", "tick 2", "tick 3"]
    assert (await poll(table, [job.id], until=Until(regex="^tick"), wait=0, scans=scans)).reason == "wait"
    await end(table, job)


async def test_what_was_searched_is_not_read_again(table: JobTable, start: Start) -> None:
    job = await start("seq 1 100000; echo last; sleep 1000")
    scans = Scans()
    until = Until(regex="^(last|secret)$")
    assert (await poll(table, [job.id], until=until, wait=30, scans=scans)).line == "last"
    with JobFile.open(job) as file:
        searched = file.end
    # What is behind us is changed: a second reading would find it.
    with open(job.output_file, "r+b") as output:
        output.write(b"secret\n")
    assert (await poll(table, [job.id], until=until, wait=0, scans=scans)).reason == "wait"
    assert scans.of(job, until.regex or "").offset == searched
    await end(table, job)


def test_the_searches_that_are_remembered_are_bounded(table: JobTable) -> None:
    scans = Scans()
    job = Job(table.root / "bg_1", {"id": "bg_1", "state": "running"})
    for number in range(MOST_SCANS + 10):
        scans.of(job, f"x{number}").offset = number
    assert len(scans._scans) == MOST_SCANS
    assert (scans.of(job, f"x{MOST_SCANS}").offset, scans.of(job, "x0").offset) == (MOST_SCANS, 0)


@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
async def test_a_port_that_opens_is_noticed(
    table: JobTable, start: Start, family: socket.AddressFamily, host: str
) -> None:
    with socket.socket(family) as probe:
        try:
            probe.bind((host, 0))
        except OSError:
            pytest.skip(f"this machine has no {host}")
        port = probe.getsockname()[1]
    job = await start("sleep 1000")
    assert (await poll(table, [job.id], until=Until(port=port), wait=0)).reason == "wait"
    waiting = asyncio.create_task(poll(table, [job.id], until=Until(port=port), wait=30))
    with socket.socket(family) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((host, port))
        server.listen()
        assert (await waiting).reason == "port"
    await end(table, job)


async def test_a_file_is_looked_for_in_the_directory_of_the_job(
    table: JobTable, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    job = await start("touch done.txt; sleep 1000")
    found = await poll(table, [job.id], until=Until(file="done.txt"), wait=30)
    assert (found.reason, found.by) == ("file", job.id)
    await end(table, job)


async def test_silence_is_noticed_and_counts_from_before_the_poll(table: JobTable, start: Start) -> None:
    job = await start("echo x; sleep 1000")
    assert (await poll(table, [job.id], until=Until(quiet=0.2), wait=30)).reason == "quiet"
    long_ago = os.stat(job.output_file).st_mtime - 100
    os.utime(job.output_file, (long_ago, long_ago))
    assert (await poll(table, [job.id], until=Until(quiet=90), wait=0)).reason == "quiet"
    await end(table, job)


async def test_a_poll_can_be_cancelled_and_holds_nothing_afterwards(table: JobTable, start: Start) -> None:
    job = await start("sleep 1000")
    waiting = asyncio.create_task(poll(table, [job.id], until=Until(regex="x"), wait=600))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await end(table, job)


async def test_a_job_of_another_process_is_watched_like_our_own(table: JobTable) -> None:
    script = (
        "import asyncio; from nacre.tool import Tool\n"
        "reply = asyncio.run(Tool('modes').call({'command': 'read x; exit 4', 'mode': 'background'}))\n"
        "print(reply.details['jobId'])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    found = await poll(table, [done.stdout.strip()], wait=30)
    assert (found.reason, found.jobs[0].record["exitCode"]) == ("ended", 4)


async def test_a_job_that_is_forgotten_while_it_is_watched_has_ended(table: JobTable) -> None:
    _, directory = table.allot()
    (directory / "output").write_bytes(b"")
    (directory / "record.json").write_text(
        f'{{"id": "{directory.name}", "version": 1, "state": "running", "pid": {os.getpid()}}}', encoding="utf-8"
    )
    with open(directory / "lock", "w", encoding="utf-8") as lock:
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = asyncio.create_task(poll(table, [directory.name], wait=30))
        await asyncio.sleep(0)
        table.discard(directory)
    assert (await waiting).reason == "ended"
