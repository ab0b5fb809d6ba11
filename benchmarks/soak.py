"""Ten thousand calls in one process: what grows, what is left, and how evenly they take.

python -m benchmarks.soak [--calls N] [--way run|spares|session|tool] [--check]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from benchmarks.peers import memory
from nacre import Session, Settings, Tool, run
from nacre.backends.spare_shells import spares
from nacre.settings import ExecutionSettings
from nacre.warden import children
from nacre.warden_client.pool import warden

MIB = 1 << 20
# Caches fill up once; nothing may go on growing.
MOST_GROWTH_BYTES = 5 * MIB
# After so many calls everything that is made once has been made.
WARM_UP = 200
REPORTS = 5
# What has ended may take a moment to be reaped; what stays longer has been forgotten.
SETTLE_SECONDS = 2.0
# Plain words: the only kind that a shell started in advance takes.
SCRIPT = "echo out"
EXPECTED = "out\n"

Call = Callable[[], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Footprint:
    """What the program and its warden hold at one moment, between two calls."""

    memory_bytes: int
    warden_bytes: int
    descriptors: int
    processes: int
    zombies: int
    tasks: int
    temporary_files: int


async def footprint() -> Footprint:
    gc.collect()
    until = time.monotonic() + SETTLE_SECONDS
    while True:
        below = children.descendants(os.getpid())
        zombies = [pid for pid in below if children.is_zombie(pid)]
        if not zombies or time.monotonic() > until:
            break
        await asyncio.sleep(0.01)
    return Footprint(
        memory_bytes=memory.resident_bytes([os.getpid()]),
        warden_bytes=memory.resident_bytes(pid for pid in below if pid not in zombies),
        descriptors=len(os.listdir("/proc/self/fd")),
        processes=len(below),
        zombies=len(zombies),
        tasks=len(asyncio.all_tasks()),
        temporary_files=sum(len(files) for _, _, files in os.walk(tempfile.gettempdir())),
    )


@contextlib.asynccontextmanager
async def calls(way: str) -> AsyncIterator[Call]:
    """One call of the chosen kind, to be made again and again."""
    if way == "session":
        async with Session() as session:

            async def in_session() -> str:
                return (await session.run(SCRIPT)).text

            yield in_session
    elif way == "tool":
        async with Tool("workspace") as tool:

            async def as_tool() -> str:
                return (await tool.call({"command": SCRIPT})).text

            yield as_tool
    else:
        settings = Settings(execution=ExecutionSettings(containment="required", spares=2 if way == "spares" else 0))

        async def alone() -> str:
            return (await run(SCRIPT, settings=settings)).text

        yield alone


async def soak(way: str, count: int) -> list[str]:
    """Make the calls, print what they took; what was wrong with it is returned."""
    async with calls(way) as call:
        for _ in range(WARM_UP):
            await call()
        first = last = await footprint()
        print(f"{way}: after {WARM_UP} calls to warm up: {first}")
        times: list[float] = []
        for number in range(1, count + 1):
            began = time.perf_counter()
            text = await call()
            times.append(time.perf_counter() - began)
            assert text.startswith(EXPECTED), text
            if number % max(1, count // REPORTS) == 0:
                last = await footprint()
                growth = (last.memory_bytes - first.memory_bytes) / MIB
                print(f"{number:>7} calls: {growth:+.2f} MiB, {last}", flush=True)
    times.sort()
    p50, p99 = statistics.median(times), times[int(len(times) * 0.99)]
    print(f"p50 {p50 * 1e3:.3f} ms, p99 {p99 * 1e3:.3f} ms, p99 / p50 {p99 / p50:.2f}, worst {times[-1] * 1e3:.1f} ms")
    return flaws(first, last)


def flaws(first: Footprint, last: Footprint) -> list[str]:
    found = []
    for name, growth in (
        ("memory", last.memory_bytes - first.memory_bytes),
        ("memory of the warden", last.warden_bytes - first.warden_bytes),
    ):
        if growth >= MOST_GROWTH_BYTES:
            found.append(f"{name} grew by {growth / MIB:.1f} MiB; at most {MOST_GROWTH_BYTES / MIB:g} are allowed")
    for name in ("descriptors", "processes", "zombies", "tasks", "temporary_files"):
        before, after = getattr(first, name), getattr(last, name)
        if after > before:
            found.append(f"{name}: {before} became {after}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--way", choices=("run", "spares", "session", "tool"), default="run")
    parser.add_argument("--check", action="store_true", help="exit with 1 if anything grew that must not")
    options = parser.parse_args()
    # The warden detaches itself; this keeps it, and whatever else does, below us where it is counted.
    children.become_subreaper()
    with (
        tempfile.TemporaryDirectory(prefix="nacre-soak-") as home,
        tempfile.TemporaryDirectory(prefix="nacre-soak-") as temporary,
    ):
        os.environ["NACRE_HOME"] = home
        tempfile.tempdir = os.environ["TMPDIR"] = temporary
        found = asyncio.run(soak(options.way, options.calls))
        spares.close()
        warden.close()
        tempfile.tempdir = None
    for flaw in found:
        print(f"wrong: {flaw}", file=sys.stderr)
    return 1 if options.check and found else 0


if __name__ == "__main__":
    sys.exit(main())
