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
# The way differs when a waiting shell is not ready yet: the shortest of several is the way as it was built.
COUNTED_CALLS = 9
PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True, order=True)
class Walk:
    """What one call walked through."""

    calls: int
    files: int
    switches: int


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
    """The shortest walk of a call that was made before."""
    for _ in range(WARM_CALLS):
        await call()
        await asyncio.sleep(PAUSE_SECONDS / 10)
    walks = []
    for _ in range(COUNTED_CALLS):
        # Time for what the last call put off, which belongs to none of them.
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
    """The walk of each way in."""
    walks = {
        'nacre.run("echo hi")': await walk(lambda: nacre.run("echo hi", cwd=directory)),
        'nacre.run("sleep 0.02")': await walk(lambda: nacre.run("sleep 0.02", cwd=directory)),
    }
    async with nacre.Tool("workspace", cwd=directory) as tool:
        walks['Tool("workspace").call, session'] = await walk(lambda: tool.call({"command": "echo hi"}))
    return walks


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        walks = asyncio.run(measure(Path(directory)))
    print(f"{'way':<36} {'calls':>6} {'files':>6} {'switches':>9}")
    for name, found in walks.items():
        print(f"{name:<36} {found.calls:>6} {found.files:>6} {found.switches:>9}")


if __name__ == "__main__":
    main()
