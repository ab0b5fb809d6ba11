"""Counts the function calls and files of nacre that one warm call walks through: `python -m benchmarks.walk`.

The count says how far a reader has to follow a call. It is exact for one interpreter, and the same on a busy machine.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import nacre

SOURCE = str(Path(nacre.__file__).parent)
WARM_CALLS = 12
# A call without a waiting shell takes another path; the shortest of several walks is the path with one.
COUNTED_CALLS = 9
PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True, order=True)
class Walk:
    """The function calls, files and switches between files of one call."""

    calls: int
    files: int
    switches: int


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that a way may take; tests/test_benchmarks.py keeps it."""

    calls: int
    files: int


RUN = 'nacre.run("echo hi")'
RUN_LONGER = 'nacre.run("sleep 0.02")'
WORKSPACE = 'Tool("workspace").call, session'
# Lower these when a walk becomes shorter. Higher ones need a reason in the commit.
LIMITS = {
    RUN: Limit(calls=60, files=15),
    RUN_LONGER: Limit(calls=110, files=20),
    WORKSPACE: Limit(calls=100, files=25),
}


class _Counter:
    def __init__(self) -> None:
        self.calls = 0
        self.switches = 0
        self.files: set[str] = set()
        self._last = ""

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(SOURCE):
            return
        self.calls += 1
        self.files.add(name)
        if name != self._last:
            self.switches += 1
            self._last = name


async def walk(call: Callable[[], Awaitable[object]]) -> Walk:
    """Return the shortest walk of a call that was made before."""
    for _ in range(WARM_CALLS):
        await call()
        await asyncio.sleep(PAUSE_SECONDS / 10)
    walks = []
    for _ in range(COUNTED_CALLS):
        # The last call's deferred work must not count for the next.
        await asyncio.sleep(PAUSE_SECONDS)
        counter = _Counter()
        sys.setprofile(counter)
        try:
            await call()
        finally:
            sys.setprofile(None)
        walks.append(Walk(counter.calls, len(counter.files), counter.switches))
    return min(walks)


async def measure(directory: Path) -> dict[str, Walk]:
    """Return the walk of each way in."""
    walks = {
        RUN: await walk(lambda: nacre.run("echo hi", cwd=directory)),
        RUN_LONGER: await walk(lambda: nacre.run("sleep 0.02", cwd=directory)),
    }
    async with nacre.Tool("workspace", cwd=directory) as tool:
        walks[WORKSPACE] = await walk(lambda: tool.call({"command": "echo hi"}))
    return walks


def excess(walks: dict[str, Walk]) -> list[str]:
    """Return a line for each walk that is longer than its limit."""
    return [
        f"{name}: {walks[name].calls} calls in {walks[name].files} files; at most {limit.calls} in {limit.files}"
        for name, limit in LIMITS.items()
        if walks[name].calls > limit.calls or walks[name].files > limit.files
    ]


def main() -> int:
    with tempfile.TemporaryDirectory() as directory:
        walks = asyncio.run(measure(Path(directory)))
    print(f"{'way':<36} {'calls':>6} {'files':>6} {'switches':>9}   limit")
    for name, found in walks.items():
        limit = LIMITS[name]
        print(f"{name:<36} {found.calls:>6} {found.files:>6} {found.switches:>9}   {limit.calls}/{limit.files}")
    for line in excess(walks):
        print(f"wrong: {line}", file=sys.stderr)
    return 1 if excess(walks) else 0


if __name__ == "__main__":
    sys.exit(main())
