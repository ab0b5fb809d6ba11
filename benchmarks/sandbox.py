"""What a sandbox costs: `python -m benchmarks.sandbox`.

Each row is a ratio or a difference of medians that were measured in turn, so that a busy machine slows both sides.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial

import nacre
from nacre.backends.spare_shells import Spare, spares
from nacre.command import SandboxSpec
from nacre.sandbox.probing import probe
from nacre.settings import ExecutionSettings, SandboxSettings, Settings

BLOCKS, ROUNDS, WARM_CALLS = 4, 15, 4
# The most milliseconds of a call in a sandbox over one without; the most of a raw spawn that a call with a spare has.
MOST_MORE_MS, MOST_OF_SPAWN = 6.0, 0.5
SCRIPT = "true"


def _settings(spares_wanted: int, mode: str) -> Settings:
    sandbox = SandboxSettings(mode=mode)  # type: ignore[arg-type]
    return Settings(execution=ExecutionSettings(spares=spares_wanted), sandbox=sandbox)


async def _milliseconds(work: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await work()
    return (time.perf_counter() - began) * 1000


def _spawn_raw(words: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run([*words, "/bin/bash", "-c", SCRIPT], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return (time.perf_counter() - began) * 1000


async def _spares_ready(*, confined: bool) -> None:
    def is_ready(spare: Spare) -> bool:
        has_sandbox = any(isinstance(one, SandboxSpec) for one in spare.surroundings)
        return has_sandbox is confined and bool(spare.look())

    for _ in range(2000):
        if any(is_ready(one) for one in list(spares._shelf)):
            return
        # Spares are started at the loop's next turns.
        await asyncio.sleep(0.005)
    raise TimeoutError


async def measure() -> dict[str, float]:
    """The medians of each way, in milliseconds."""
    ways = {
        "bare": _settings(0, "off"),
        "confined": _settings(0, "required"),
        "bare spare": _settings(2, "off"),
        "spare": _settings(2, "required"),
    }
    found: dict[str, list[float]] = {name: [] for name in ("spawn", "bubblewrap", *ways)}
    program = str(probe(os.environ["PATH"]).program)
    words = [program, "--unshare-all", "--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    with tempfile.TemporaryDirectory() as workspace:
        for _ in range(BLOCKS):
            for name, settings in ways.items():
                for at in range(WARM_CALLS + ROUNDS):
                    took = await _milliseconds(partial(nacre.run, SCRIPT, cwd=workspace, settings=settings))
                    if at >= WARM_CALLS:
                        found[name].append(took)
                        found["spawn"].append(_spawn_raw([]))
                    if settings.execution.spares and at:
                        await _spares_ready(confined=settings.sandbox.mode != "off")
            found["bubblewrap"] += [_spawn_raw(words) for _ in range(ROUNDS)]
    return {name: statistics.median(values) for name, values in found.items()}


def main() -> None:
    medians = asyncio.run(measure())
    for name, value in medians.items():
        print(f"{name:<12} {value:7.2f} ms")
    more, ratio = medians["confined"] - medians["bare"], medians["spare"] / medians["spawn"]
    print(f"in a sandbox over a bare call: {more:+.2f} ms (at most {MOST_MORE_MS:g})")
    print(f"with a spare, of a raw spawn:  {ratio:.2f} (at most {MOST_OF_SPAWN:g})")


if __name__ == "__main__":
    main()
