"""`make bench`: nacre and the floors, interleaved in one run; ratios of medians, because machines differ.

python -m benchmarks [latency] [lines] [throughput] [concurrency]
"""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable

from benchmarks import floors
from nacre.backends.wardens import warden
from nacre.running import run
from nacre.settings import ExecutionSettings, Settings

GIGABYTE = "yes | head -c 1073741824"
Workload = Callable[[str], Awaitable[object]]

IN_PROCESS = Settings(execution=ExecutionSettings(containment="off"))
CONTAINED = Settings(execution=ExecutionSettings(containment="required", spares=0))


async def _posix_spawn(script: str) -> None:
    floors.posix_spawn(script)


async def _posix_spawn_read(script: str) -> None:
    floors.posix_spawn_read(script)


async def _subprocess_run(script: str) -> None:
    floors.subprocess_run(script)


async def _in_process(script: str) -> None:
    assert (await run(script, settings=IN_PROCESS)).ok


async def _contained(script: str) -> None:
    assert (await run(script, settings=CONTAINED)).ok


LATENCY: dict[str, Workload] = {
    "floor: os.posix_spawn": _posix_spawn,
    "floor: subprocess.run": _subprocess_run,
    "floor: asyncio exec": floors.asyncio_exec,
    "nacre, in-process": _in_process,
    "nacre, warden": _contained,
}
READING: dict[str, Workload] = {
    "floor: posix_spawn, readv": _posix_spawn_read,
    "nacre, in-process": _in_process,
    "nacre, warden": _contained,
}


async def interleaved(workloads: dict[str, Workload], script: str, *, rounds: int) -> dict[str, list[float]]:
    """Seconds of each workload, one of each a round, so that a busy moment hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in workloads}
    for work in workloads.values():
        await work(script)
    for _ in range(rounds):
        for name, work in workloads.items():
            began = time.perf_counter()
            await work(script)
            times[name].append(time.perf_counter() - began)
    return times


def table(title: str, times: dict[str, list[float]]) -> None:
    floor = statistics.median(next(iter(times.values())))
    print(f"\n{title}\n{'':<28}{'median ms':>11}{'p95 ms':>9}{'ratio':>8}")
    for name, values in times.items():
        median = statistics.median(values)
        p95 = sorted(values)[int(len(values) * 0.95)]
        print(f"{name:<28}{median * 1e3:>11.3f}{p95 * 1e3:>9.3f}{median / floor:>8.2f}")


async def latency() -> None:
    table("`true`, one after another", await interleaved(LATENCY, "true", rounds=200))


async def lines() -> None:
    table("`seq 1 10000`", await interleaved(READING, "seq 1 10000", rounds=60))


async def throughput() -> None:
    times: dict[str, list[float]] = {}
    growth: dict[str, float] = {}
    for _ in range(3):
        for name, work in READING.items():
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            began = time.perf_counter()
            await work(GIGABYTE)
            times.setdefault(name, []).append(time.perf_counter() - began)
            growth[name] = max(
                growth.get(name, 0.0), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
            )
    table("1 GB of `yes` (speed of the floor / ours is 1 / ratio)", times)
    print("peak memory growth, MB: " + ", ".join(f"{name} {size:.1f}" for name, size in growth.items()))


async def concurrency() -> None:
    script = "sleep 0.2; echo x"
    for count in (100, 500):
        times: dict[str, list[float]] = {}
        for _ in range(3):
            for name, work in list(LATENCY.items())[2:]:
                began = time.perf_counter()
                await asyncio.gather(*(work(script) for _ in range(count)))
                times.setdefault(name, []).append(time.perf_counter() - began)
        table(f"{count} x `{script}` at once", times)


SUITES = {"latency": latency, "lines": lines, "throughput": throughput, "concurrency": concurrency}


def main(wanted: list[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as home:
        os.environ["NACRE_HOME"] = home
        for name in wanted or SUITES:
            asyncio.run(SUITES[name]())
        warden.close()


main(sys.argv[1:])
