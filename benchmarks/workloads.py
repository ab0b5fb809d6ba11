"""What every tool is asked to do, in turns: one batch of each a round, so that a busy moment hits all alike."""

from __future__ import annotations

import time
from dataclasses import dataclass

from benchmarks import startup
from benchmarks.measured import Measured
from benchmarks.peers.catalogue import is_wanted
from benchmarks.peers.remote import RemoteTool, ToolFailedError, ToolHangsError

# An agent thinks between two commands; this much is enough for what a tool prepares meanwhile.
PAUSE_SECONDS = 0.005
# What a tool goes on doing after its batch (new shells for the next calls, for one) is not the next tool's cost.
SETTLE_SECONDS = 0.03
# A command's own limit; none of these comes near it unless the tool is stuck.
TIMEOUT_SECONDS = 60.0
# After this the next tool has its turn, however few calls there were.
BATCH_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class Latency:
    """A short command, many times."""

    key: str
    title: str
    script: str
    expected: str
    pause: float
    floor: str


SPAWN = "floor: os.posix_spawn"
READ = "floor: posix_spawn + readv"
ASYNCIO = "floor: asyncio subprocess"

LATENCIES = (
    Latency("true_paced", "`true`, 5 ms between calls", "true", "", PAUSE_SECONDS, SPAWN),
    Latency("true", "`true`, back to back", "true", "", 0.0, SPAWN),
    Latency("bin_true_paced", "`/bin/true`, 5 ms between calls", "/bin/true", "", PAUSE_SECONDS, SPAWN),
    Latency("bin_true", "`/bin/true`, back to back", "/bin/true", "", 0.0, SPAWN),
    Latency("lines_paced", "`seq 1 10000`, 5 ms between calls", "seq 1 10000", "9999", PAUSE_SECONDS, READ),
    Latency("lines", "`seq 1 10000`, back to back", "seq 1 10000", "9999", 0.0, READ),
)
AT_ONCE = (100, 500)
# As elsewhere, what is looked for does not stand in the script, which some tools repeat.
AT_ONCE_SCRIPT = "sleep 0.2; echo x''x"
FLOORS = {
    **{each.key: each.floor for each in LATENCIES},
    "large": READ,
    **{f"at_once_{count}": ASYNCIO for count in AT_ONCE},
    "startup": startup.FLOOR,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much is done of each."""

    rounds: int
    calls: int
    large_bytes: int
    large_rounds: int
    limit: float
    """Seconds after which a batch or a flood counts as hanging."""
    at_once_limit: float
    """The same for many calls at once."""


# Of a flood, for those that take it in within so many seconds.
MORE_ROUNDS, QUICK_SECONDS = 4, 2.5

FULL = Effort(rounds=10, calls=20, large_bytes=1 << 30, large_rounds=3, limit=20.0, at_once_limit=30.0)
QUICK = Effort(rounds=3, calls=10, large_bytes=100 << 20, large_rounds=1, limit=6.0, at_once_limit=30.0)


def latency(tools: list[RemoteTool], work: Latency, effort: Effort) -> dict[str, Measured]:
    asked = [tool for tool in tools if is_wanted(tool.entry, work.key)]
    measured = {tool.entry.name: Measured() for tool in asked}
    for number in range(effort.rounds + 1):
        for tool in _in_turn(asked, number):
            mine = measured[tool.entry.name]
            if mine.failure:
                continue
            time.sleep(SETTLE_SECONDS)
            try:
                answer = tool.ask(
                    "batch",
                    limit=effort.limit,
                    script=work.script,
                    expected=work.expected,
                    timeout=TIMEOUT_SECONDS,
                    count=effort.calls if number else 3,
                    budget=BATCH_SECONDS,
                    pause=work.pause,
                )
            except (ToolFailedError, ToolHangsError) as error:
                mine.failure = str(error)
                continue
            # The first round warms up: connections, caches, what is prepared in advance.
            if number:
                mine.times += answer["times"]
    return measured


def _in_turn(tools: list[RemoteTool], number: int) -> list[RemoteTool]:
    """Return the tools with another first one each round, so that none always follows the same tool."""
    at = number * len(tools) // 4 % len(tools) if tools else 0
    return tools[at:] + tools[:at]


def large(tools: list[RemoteTool], effort: Effort) -> dict[str, Measured]:
    """A flood: how fast it is taken in, how much memory that costs, how much comes back."""
    asked = [tool for tool in tools if is_wanted(tool.entry, "large")]
    measured = {tool.entry.name: Measured() for tool in asked}
    for number in range(effort.large_rounds + MORE_ROUNDS):
        for tool in _in_turn(asked, number):
            mine = measured[tool.entry.name]
            # After gigabytes held in memory the next tool pays for them: those that are quick are asked more often.
            if mine.failure or (number >= effort.large_rounds and min(mine.times) > QUICK_SECONDS):
                continue
            time.sleep(SETTLE_SECONDS)
            script = f"yes | head -c {effort.large_bytes}"
            try:
                answer = tool.ask("single", limit=effort.limit + 5, script=script, timeout=effort.limit)
            except (ToolFailedError, ToolHangsError) as error:
                mine.failure = str(error)
                continue
            mine.failure = _flaw(answer, effort)
            if mine.failure:
                # Its flood may go on, and would be in the way of those that come after it.
                tool.kill()
            mine.times.append(answer["seconds"])
            mine.growth_bytes = max(mine.growth_bytes, answer.get("growth", 0))
            mine.chars = answer.get("chars", 0)
    return measured


def _flaw(answer: dict[str, object], effort: Effort) -> str:
    """Why a flood counts as failed: an exception, an error in place of the output, or none of it."""
    if "raised" in answer:
        return str(answer["raised"])
    if "y\ny\n" not in str(answer["text"]).replace("\r", ""):
        return f"no output: {answer['text']}"
    seconds = answer["seconds"]
    assert isinstance(seconds, float)
    return f"not finished in {effort.limit:.0f} s" if seconds >= effort.limit else ""


def at_once(tools: list[RemoteTool], count: int, effort: Effort, fewer: dict[str, Measured]) -> dict[str, Measured]:
    """Many at the same moment; a tool that failed with fewer is not asked again, and shown as failing."""
    key = f"at_once_{count}"
    asked = [tool for tool in tools if is_wanted(tool.entry, key)]
    measured = {tool.entry.name: Measured() for tool in asked}
    for name, before in fewer.items():
        if before.failure:
            measured[name].failure = f"with fewer: {before.failure}"
    for _ in range(effort.large_rounds):
        for tool in asked:
            mine = measured[tool.entry.name]
            if mine.failure:
                continue
            try:
                answer = tool.ask(
                    "at_once",
                    limit=effort.at_once_limit,
                    script=AT_ONCE_SCRIPT,
                    expected="xx",
                    timeout=TIMEOUT_SECONDS,
                    count=count,
                )
            except (ToolFailedError, ToolHangsError) as error:
                mine.failure = str(error)
                continue
            mine.times.append(answer["seconds"])
            mine.wrong = max(mine.wrong, answer["wrong"])
            if mine.wrong:
                mine.failure = f"{mine.wrong} of {count} wrong: {answer['example']}"
    return measured
