"""A job's end is told once, with its output, by whichever nacre comes first."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

import nacre
from nacre.jobs.job import Job
from nacre.jobs.notices import claim, completions, is_claimed, text_of
from nacre.jobs.polling import poll
from nacre.jobs.table import JobTable

Start = Callable[[str], Awaitable[Job]]


async def first(table: JobTable, count: int = 1) -> list[str]:
    """The next jobs that are told."""
    found: list[str] = []
    stream = completions(table, lambda job: True)
    async with asyncio.timeout(30):
        async for job in stream:
            found.append(job.id)
            if len(found) == count:
                break
    await stream.aclose()
    return found


async def test_the_end_of_a_job_is_told_as_it_ends_and_only_once(table: JobTable, start: Start) -> None:
    told: list[str] = []

    async def listen() -> None:
        async for job in completions(table, lambda job: True):
            told.append(job.id)

    listeners = [asyncio.create_task(listen()) for _ in range(3)]
    jobs = [await start("true") for _ in range(5)]
    for job in jobs:
        await poll(table, [job.id], wait=30)
    last = await start("true")
    async with asyncio.timeout(30):
        while last.id not in told:
            await asyncio.sleep(0.01)
    for listener in listeners:
        listener.cancel()
    await asyncio.wait(listeners)
    assert sorted(told) == sorted(job.id for job in [*jobs, last])


async def test_who_stops_listening_in_the_middle_of_a_notice_gives_back_every_descriptor(
    table: JobTable, start: Start
) -> None:
    """A job that runs is watched by its lock; no collector is waited for to close it."""
    running, done = await start("sleep 600"), await start("true")
    async with nacre.Tool("job") as tool:
        async with asyncio.timeout(30), aclosing(tool.notices()) as notices:
            assert (await anext(notices)).job_id == done.id
            assert held_below(running.directory)
        assert held_below(running.directory) == []
    table.stop(running.id)
    await poll(table, [running.id], wait=30)


def held_below(directory: Path) -> list[str]:
    """The files of a directory that this process has open."""
    fds = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
    found = [os.readlink(fd) for fd in fds if os.path.lexists(fd)]
    return [path for path in found if path.startswith(f"{directory}/")]


async def test_a_job_that_ended_while_nobody_listened_is_told_first(table: JobTable, start: Start) -> None:
    done = await start("true")
    await poll(table, [done.id], wait=30)
    assert await first(table) == [done.id]
    assert is_claimed(done)
    following = await start("true")
    assert await first(table) == [following.id]


async def test_a_job_is_held_back_while_it_is_not_wanted(table: JobTable, start: Start) -> None:
    job = await start("true")
    await poll(table, [job.id], wait=30)
    asked: list[str] = []

    def wanted(found: Job) -> bool:
        asked.append(found.id)
        return len(asked) > 2

    stream = completions(table, wanted)
    async with asyncio.timeout(30):
        assert (await anext(stream)).id == job.id
    await stream.aclose()
    assert asked == [job.id] * 3


async def test_of_many_processes_one_delivers(table: JobTable, start: Start, home: Path) -> None:
    job = await start("true")
    await poll(table, [job.id], wait=30)
    script = (
        "import sys; from pathlib import Path; from nacre.jobs.table import JobTable\n"
        "from nacre.jobs.notices import claim\n"
        "print(claim(JobTable(Path(sys.argv[1])).get(sys.argv[2])))"
    )
    command = [sys.executable, "-c", script, str(home), job.id]
    workers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    assert sorted(worker.communicate()[0].strip() for worker in workers) == ["False"] * 5 + ["True"]
    assert not claim(job)


async def test_the_text_tells_how_it_ended_and_shows_the_output(table: JobTable, start: Start) -> None:
    job = await start("printf '\\033[31mred\\033[0m\\n'; exit 3")
    found = (await poll(table, [job.id], wait=30)).jobs[0]
    head, body = text_of(found).split("\n", 1)
    assert head.startswith(f"Background job {job.id} [bash] failed, exit code 3, ")
    assert head.endswith(r"s: printf '\033[31mred\033[0m\n'; exit 3")
    assert body == "red"


async def test_a_long_output_is_told_by_its_ends_and_how_to_read_the_rest(table: JobTable, start: Start) -> None:
    job = await start("seq 1 100000")
    found = (await poll(table, [job.id], wait=30)).jobs[0]
    _, *body = text_of(found).split("\n")
    size = sum(len(f"{n}\n") for n in range(1, 100_001))
    assert (body[0], body[-1]) == ("1", "100000")
    marker = f'[… {size - 4000} bytes omitted; read them with job {{"read": "{job.id}", "offset": 3000}} …]'
    assert marker in body
    assert len("\n".join(body)) < 4200


async def test_a_job_without_output_says_so(table: JobTable, start: Start) -> None:
    job = await start("true")
    found = (await poll(table, [job.id], wait=30)).jobs[0]
    assert text_of(found).split("\n", 1)[1] == "(no output)"


async def test_a_deleted_output_is_told_with_a_notice(table: JobTable, start: Start) -> None:
    job = await start("echo x")
    found = (await poll(table, [job.id], wait=30)).jobs[0]
    found.output_file.unlink()
    assert text_of(found).endswith("is gone: it was deleted]")
