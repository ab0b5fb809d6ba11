"""A program that uses nacre in every way, and kills parts of it: `python -m soak.host`. The storm starts and judges it.

It prints one JSON object a line: each problem as it is found, and its figures at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from nacre import forks
from nacre.backends.spare_shells import spares
from nacre.engine.engine import forget_engines
from nacre.errors import NacreError
from nacre.warden import children
from nacre.warden_client.pool import warden
from soak.acts import ACTS, GRACE, Act, Stage, Verdict

# The longest timeout of an act's own calls, and what P1 adds to it. An act may make three calls.
LONGEST_SECONDS = 20 + GRACE + 1
# What a kill does may show this much later: a shell that waited is found dead by the next call.
SHADOW_SECONDS = 1.0
# How often each kind of process is hit, where there is one.
WEIGHTS = {"child": 6, "runner": 4, "warden": 1, "guardian": 1}
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def say(**facts: Any) -> None:
    print(json.dumps(facts), flush=True)


def rss_bytes() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGE_BYTES


class Chaos:
    """Kills and stops processes of the far side and of commands, now and then."""

    def __init__(self, dice: random.Random, every: float) -> None:
        self._dice = dice
        self._every = every
        self.last = float("-inf")
        self.blows: Counter[str] = Counter()

    async def rage(self) -> None:
        while True:
            await asyncio.sleep(self._dice.expovariate(1 / self._every))
            self.strike()

    def strike(self) -> None:
        victims = self._victims()
        if not victims:
            return
        kinds = sorted(victims)
        kind = self._dice.choices(kinds, [{"child": 6, "runner": 4, "warden": 1, "guardian": 1}[one] for one in kinds])[
            0
        ]
        victim = self._dice.choice(victims[kind])
        if kind == "runner" and not _has_keeper(victim) and not _is_confined(victim):
            return
        stops = kind in ("runner", "warden") and self._dice.random() < 0.25 and _has_keeper(victim)
        number = signal.SIGSTOP if stops else signal.SIGKILL
        self.last = time.monotonic()
        self.blows[f"{kind} {signal.Signals(number).name}"] += 1
        try:
            os.kill(victim, number)
        except ProcessLookupError:
            return

    def _victims(self) -> dict[str, list[int]]:
        """Processes by what they are; the storm is their ancestor, and its other hosts have ended."""
        names = {"nacre-guardian": "guardian", "nacre-warden": "warden", "nacre-runner": "runner"}
        found: dict[str, list[int]] = {}
        for pid in children.descendants(os.getppid()):
            line = children.command_line(pid)
            if pid != os.getpid() and line:
                found.setdefault(names.get(line[0].split()[0], "child"), []).append(pid)
        return found


class Host:
    def __init__(self, options: argparse.Namespace) -> None:
        self.dice = random.Random(options.seed)
        self.left: int = options.calls
        self.end = time.monotonic() + options.seconds
        self.stage = Stage(Path(options.work), Path(os.environ["NACRE_HOME"]), random.Random(self.dice.random()))
        self.chaos = Chaos(random.Random(self.dice.random()), options.chaos) if options.chaos else None
        self.done: Counter[str] = Counter()
        self.disturbed = 0
        self.latencies: list[float] = []
        self.slowest: dict[str, float] = {}

    async def worker(self) -> None:
        acts, weights = zip(*ACTS, strict=True)
        while self.left > 0 and time.monotonic() < self.end:
            self.left -= 1
            await self.perform(self.dice.choices(acts, weights)[0])

    async def perform(self, act: Act) -> None:
        began = time.monotonic()
        try:
            async with asyncio.timeout(3 * LONGEST_SECONDS):
                verdict = await act(self.stage)
        except NacreError as error:
            verdict = Verdict(act.__name__, deviation=f"{type(error).__name__}: {error}")
        except TimeoutError:
            verdict = Verdict(act.__name__, problem="it did not come back")
        took = time.monotonic() - began
        self.done[verdict.kind] += 1
        calm = self.chaos is None or self.chaos.last < began - SHADOW_SECONDS
        if verdict.kind == "run" and calm:
            self.latencies.append(took)
        if verdict.kind not in ("terminal", "job"):
            self.slowest[verdict.kind] = round(max(self.slowest.get(verdict.kind, 0.0), took), 3)
            if took > LONGEST_SECONDS:
                verdict.problem = f"it took {took:.2f} s, later than P1 allows"
        if verdict.problem is None and verdict.deviation is not None:
            if calm:
                verdict.problem = f"undisturbed: {verdict.deviation}"
            else:
                self.disturbed += 1
        if verdict.problem is not None:
            say(problem=verdict.problem, kind=verdict.kind, took=round(took, 3))

    async def run(self, workers: int) -> None:
        descriptors = _descriptors()
        raging = asyncio.create_task(self.chaos.rage()) if self.chaos is not None else None
        calm = asyncio.gather(*(self.worker() for _ in range(workers)))
        warm = 0
        while not calm.done():
            await asyncio.wait([calm], timeout=0.5)
            if not warm and sum(self.done.values()) >= 300:
                warm = rss_bytes()
            say(calls=sum(self.done.values()), rss=rss_bytes())
        calm.result()
        if raging is not None:
            raging.cancel()
        grown = rss_bytes() - warm if warm else 0
        for tool in self.stage.tools.values():
            await tool.aclose()
        spares.close()
        forks.close()
        warden.close()
        forget_engines()
        leaked = sorted(_descriptors() - descriptors)
        # The loop's own descriptors stay while it runs.
        say(
            done=self.done,
            disturbed=self.disturbed,
            latencies=[round(one * 1000, 2) for one in self.latencies],
            slowest=self.slowest,
            grown=grown,
            rss=rss_bytes(),
            leaked=leaked,
            blows=self.chaos.blows if self.chaos is not None else {},
        )


def _has_keeper(pid: int) -> bool:
    """Whether the parent of a process is nacre's: what no process answers for is not promised (docs/reliability.md)."""
    parent = children.stat_fields(pid)[1:2]
    return bool(parent) and children.command_line(int(parent[0]))[:1] in (["nacre-warden"], ["nacre-guardian"])


def _is_confined(runner: int) -> bool:
    """Whether the kernel ends all that a runner has started at the end of the runner: it is in a pid namespace."""
    below = children.children_of(runner)
    inside = [pid for pid in below if _namespace(pid) not in ("", _namespace(os.getpid()))]
    others = [children.command_line(pid)[:1] for pid in below if pid not in inside]
    return bool(inside) and all(os.path.basename(name[0]) == "bwrap" for name in others if name)


def _namespace(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return ""


def _descriptors() -> set[str]:
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            found.add(f"{name} {os.readlink(f'/proc/self/fd/{name}')}")
        except FileNotFoundError:
            continue
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--calls", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--chaos", type=float, default=0.0, help="mean seconds between two blows; 0 is none")
    options = parser.parse_args()
    asyncio.run(Host(options).run(options.workers))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
