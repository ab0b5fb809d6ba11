"""What jobs cost: a hundred started, held, listed and watched; windows on a capped file of a gigabyte.

Usage: python -m benchmarks.jobs [GIGABYTES | --memory]; --memory prints the runners' private kilobytes, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path

from nacre.artifacts.excerpt import read_tail, read_window, search
from nacre.backends.spare_shells import spares
from nacre.engine.background import SETTLE_SECONDS
from nacre.jobs.job import Job
from nacre.jobs.liveness import RunnerLock
from nacre.jobs.output_file import JobFile
from nacre.jobs.polling import Scans, poll
from nacre.jobs.table import JobTable
from nacre.regex.automaton import Regex
from nacre.settings import INLINE_BYTES, Settings
from nacre.tool import Tool
from nacre.until import Until
from nacre.warden import children, record
from nacre.warden.kept_job import JobOutput, open_output
from nacre.warden_client.pool import warden

MIB = 1024 * 1024
JOBS = 100


def median_ms(work: Callable[[], object], rounds: int = 50) -> tuple[float, float]:
    """Median and worst of so many rounds."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        times.append((time.perf_counter() - began) * 1e3)
    return statistics.median(times), max(times)


def row(name: str, figures: tuple[float, float], limit: str = "") -> None:
    print(f"{name:<52}{figures[0]:>10.3f}{figures[1]:>10.3f}   {limit}")


def make_job(table: JobTable, number: int) -> Job:
    """A running job whose runner is this process."""
    job_id, directory = table.allot()
    (directory / record.OUTPUT).write_bytes(b"output\n")
    facts = {
        "id": job_id,
        "version": record.VERSION,
        "state": "running",
        "command": f"sleep {number}",
        "pid": os.getpid(),
        "pidStart": children.start_time(os.getpid()),
        "bootId": children.boot_id(),
        "startedAt": time.time(),
    }
    record.write(str(directory), facts)
    return Job(directory, facts)


@contextmanager
def held(job: Job) -> Iterator[None]:
    """The lock of its runner, held."""
    lock = record.lock(str(job.directory))
    try:
        yield
    finally:
        os.close(lock)


def write_output(job: Job, size: int) -> float:
    output = JobOutput(open_output(str(job.output_file)), head_bytes=8 * MIB, cap_bytes=1024 * MIB)
    chunk = b"".join(
        b"%08d INFO a line of the kind that servers write, request took 12 ms\n" % n for n in range(60_000)
    )
    began = time.perf_counter()
    for _ in range(size // len(chunk)):
        output.write(memoryview(chunk))
    output.write(memoryview(b"the last line: server ready\n"))
    output.close()
    return time.perf_counter() - began


def window(job: Job, offset: int) -> None:
    with JobFile.open(job) as file:
        read_window(file, offset, INLINE_BYTES, growing=True)


def tail(job: Job) -> None:
    with JobFile.open(job) as file:
        read_tail(file, 20, INLINE_BYTES, growing=True)


async def grep(job: Job, source: str) -> float:
    with JobFile.open(job) as file:
        began = time.perf_counter()
        found = await search(file, Regex(source), 0, INLINE_BYTES, seconds=600)
        return (found.next_offset - found.skipped_bytes) / (time.perf_counter() - began) / 1e6


async def one_file(table: JobTable, gigabytes: float) -> None:
    job = make_job(table, 0)
    took = write_output(job, int(gigabytes * 1024 * MIB))
    size = job.output_file.stat().st_size
    blocks = job.output_file.stat().st_blocks * 512
    print(f"\na file of {size / 1e6:.0f} MB, {blocks / 1e6:.0f} MB on disk, written in {took:.1f} s")
    print(f"{'':<52}{'median ms':>10}{'worst ms':>10}   wanted")
    for name, part in (("beginning", 0.0), ("in the hole", 0.02), ("middle", 0.5), ("end", 0.9999)):
        row(f"read 50 KiB, {name}", median_ms(lambda at=int(size * part): window(job, at)), "< 5")  # type: ignore[misc]
    row("read the last 20 lines", median_ms(lambda: tail(job)), "< 5")
    for source in ("server ready", r"\d+ ready$", "(?i)READY|steady", "(a+)+$"):
        print(f"{f'grep {source!r} over all of it':<52}{await grep(job, source):>10.0f} MB/s")
    with held(job):
        scans = Scans()
        for name, wait in (
            ("first poll with a regex: reads all of it once", 30),
            ("second poll with it: nothing new", 0),
        ):
            began = time.perf_counter()
            found = await poll(table, [job.id], until=Until(regex="server ready"), wait=wait, scans=scans)
            print(f"{name:<52}{(time.perf_counter() - began) * 1e3:>10.3f} ms ({found.reason})")
    table.discard(job.directory)


async def many_jobs(table: JobTable) -> None:
    with ExitStack() as stack:
        jobs = [make_job(table, number) for number in range(JOBS)]
        for job in jobs:
            stack.enter_context(held(job))
        print(f"\n{JOBS} running jobs\n{'':<52}{'median ms':>10}{'worst ms':>10}   wanted")
        row("list all", median_ms(table.list), "< 10")
        locks = [RunnerLock(job) for job in jobs]
        row("ask whether any has ended (a tick of a poll)", median_ms(lambda: [lock.held() for lock in locks]), "of 50")
        for each in locks:
            each.close()
        began, used = time.perf_counter(), time.process_time()
        await poll(table, [job.id for job in jobs], until=Until(regex="never"), wait=2)
        share = (time.process_time() - used) / (time.perf_counter() - began)
        print(f"{'processor while a poll with a regex waits for all':<52}{share * 100:>9.1f} %")


def private_kilobytes(pid: int) -> int:
    """The memory that is the process's alone: what it costs beyond what it shares with the zygote."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("Private_"))


@asynccontextmanager
async def real_jobs(home: str) -> AsyncIterator[tuple[Tool, list[float]]]:
    """A hundred jobs of the workspace tool that run at once, and the milliseconds that each start took."""
    os.environ["NACRE_HOME"] = home
    tool = Tool("workspace", cwd=home, settings=Settings())
    await tool.call({"command": "true"})
    times = []
    try:
        for _ in range(JOBS):
            began = time.perf_counter()
            reply = await tool.call({"command": "sleep 1000", "async": True})
            times.append((time.perf_counter() - began) * 1e3)
            assert not reply.is_error, reply.text
        yield tool, times
    finally:
        for job in tool.engine.jobs.list().jobs:
            tool.engine.jobs.stop(job.id)
        while running := [job.id for job in tool.engine.jobs.list().jobs if job.running]:
            await poll(tool.engine.jobs, running, wait=10)
        spares.close()
        warden.close()


def runners_kilobytes(tool: Tool) -> list[int]:
    return [private_kilobytes(job.record["runnerPid"]) for job in tool.engine.jobs.list().jobs]


async def cost_of_jobs(home: str) -> None:
    async with real_jobs(home) as (tool, times):
        print(f"\n{JOBS} jobs started one after another\n{'':<52}{'median ms':>10}{'worst ms':>10}   wanted")
        title = f"start (it is watched for {SETTLE_SECONDS * 1e3:g} ms: bad starts are told)"
        row(title, (statistics.median(times), max(times)), "< 20")
        row("start of the last ten", (statistics.median(times[-10:]), max(times[-10:])), "< 20")
        row("list all", median_ms(tool.engine.jobs.list), "< 10")
        costs = runners_kilobytes(tool)
        row("private memory of a runner, KB", (statistics.median(costs), max(costs)), "< 1024")
        began = time.perf_counter()
        refused = await tool.call({"command": "true", "async": True})
        assert refused.is_error
        print(f"{'refusal of one more':<52}{(time.perf_counter() - began) * 1e3:>10.3f}")


async def memory_of_jobs() -> list[int]:
    with tempfile.TemporaryDirectory(prefix="nacre-bench-", dir=os.environ.get("BENCH_DIR")) as home:
        async with real_jobs(home) as (tool, _):
            return runners_kilobytes(tool)


async def main(gigabytes: float) -> None:
    with tempfile.TemporaryDirectory(prefix="nacre-bench-", dir=os.environ.get("BENCH_DIR")) as home:
        await cost_of_jobs(home)
    with tempfile.TemporaryDirectory(prefix="nacre-bench-", dir=os.environ.get("BENCH_DIR")) as home:
        table = JobTable(Path(home))
        await many_jobs(table)
        await one_file(table, gigabytes)


if __name__ == "__main__":
    if sys.argv[1:] == ["--memory"]:
        print(json.dumps(asyncio.run(memory_of_jobs())))
    else:
        asyncio.run(main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.25))
