"""`python -m benchmarks.mcp_round_trip`: how `nacre mcp` starts, what it holds, and what it adds to a call over stdio.

The client is a bare pipe: it writes a line and waits for a line, so that no client library is measured. Starts are
compared with `python -c 'import asyncio'`, one of each a round. Calls of the library and of the server alternate. Each
figure is a median of its own. The home directory is empty; `--rc 'sleep 0.5'` gives it a ~/.bashrc of these lines.
Servers of others are measured where `make peers` has installed them; each runs `true` by its own tool.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nacre
from benchmarks.peers.catalogue import HOME
from benchmarks.startup import FLOOR
from nacre.warden.children import become_subreaper

COMMAND = "true"
WARM_UP = 30
# Above the library, for a call of `true`.
MOST_ABOVE_MS = 0.5
# Against the floor: the answers to initialize and tools/list, and the first result.
MOST_LISTED, MOST_FIRST = 2.5, 4.0
# The idle server with its helpers.
MOST_PSS_MB = 40.0
SETTLED_SECONDS = 1.0
ERAS = ("2025-11-25", "2026-07-28")


@dataclass(frozen=True, slots=True)
class Server:
    """A server and how its tool is asked to run a command."""

    name: str
    command: list[str]
    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)


NACRE = Server("nacre mcp", [sys.executable, "-m", "nacre", "mcp"], "bash", {"command": COMMAND})
# The servers of others, by the name of their environment, with their program below it.
OTHERS = (
    Server(
        "mcp-server-commands",
        ["node", "node_modules/mcp-server-commands/build/index.js"],
        "run_command",
        {"command": COMMAND},
    ),
    Server(
        "desktop-commander",
        ["node", "node_modules/@wonderwhy-er/desktop-commander/dist/index.js", "--no-onboarding"],
        "start_process",
        {"command": COMMAND, "timeout_ms": 5000, "shell": "/bin/bash"},
    ),
)


class Pipe:
    """A client of one server process."""

    def __init__(self, era: str, server: Server = NACRE) -> None:
        self._meta: dict[str, Any] = {}
        self._number = 0
        self._server = server
        self.process = subprocess.Popen(
            server.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )
        client = {"name": "benchmark", "version": "1"}
        if era == "2025-11-25":
            self.ask("initialize", {"protocolVersion": era, "capabilities": {}, "clientInfo": client})
            self._tell({"jsonrpc": "2.0", "method": "notifications/initialized"})
        else:
            self._meta = {
                "io.modelcontextprotocol/protocolVersion": era,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": client,
            }

    def _tell(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        if self._meta:
            params = params | {"_meta": self._meta}
        self._tell({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self.process.stdout is not None
        while True:
            line = b""
            while not line.endswith(b"\n"):
                line += os.read(self.process.stdout.fileno(), 65536)
            for one in line.splitlines():
                message = json.loads(one)
                # Other servers send notices in between.
                if message.get("id") == self._number:
                    result: dict[str, Any] = message["result"]
                    return result

    def call(self) -> None:
        result = self.ask("tools/call", {"name": self._server.tool, "arguments": self._server.arguments})
        assert not result.get("isError"), result

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(30)


def start(server: Server) -> tuple[float, float]:
    """Seconds from the start of a server to its list of tools, and to the result of its first call."""
    began = time.perf_counter()
    pipe = Pipe("2025-11-25", server)
    pipe.ask("tools/list", {})
    listed = time.perf_counter() - began
    pipe.call()
    first = time.perf_counter() - began
    pipe.close()
    return listed, first


def starts(rounds: int, servers: list[Server]) -> tuple[list[float], dict[str, list[tuple[float, float]]]]:
    """The floor and each server, one of each a round, so that a busy moment hits all alike."""
    floor: list[float] = []
    found: dict[str, list[tuple[float, float]]] = {server.name: [] for server in servers}
    for number in range(rounds + 1):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import asyncio"], check=True)
        bare = time.perf_counter() - began
        taken = {server.name: start(server) for server in servers}
        # The first round reads the files into the cache.
        if number:
            floor.append(bare)
            for name, times in taken.items():
                found[name].append(times)
    return floor, found


def pss_mb(server: Server) -> float:
    """Of an idle server and of all that it has started; the helpers of nacre leave their parent."""
    become_subreaper()
    before = _pids()
    pipe = Pipe("2025-11-25", server)
    pipe.ask("tools/list", {})
    pipe.call()
    time.sleep(SETTLED_SECONDS)
    own = [pid for pid in _pids() - before if _belongs(pid)]
    total = sum(map(_pss, own))
    pipe.close()
    return total / 1024


def _pids() -> set[int]:
    return {int(name) for name in os.listdir("/proc") if name.isdigit()}


def _belongs(pid: int) -> bool:
    """Whether it is a descendant of this process, which orphans come back to."""
    while pid > 1:
        if pid == os.getpid():
            return True
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
        except OSError:
            return False
    return False


def _pss(pid: int) -> int:
    try:
        found = re.search(r"^Pss: +(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return 0
    return 0 if found is None else int(found[1])


async def measure(rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each call of nacre, by what made it."""
    pipes = {era: Pipe(era) for era in ERAS}
    times: dict[str, list[float]] = {name: [] for name in ("library", *pipes, "ping")}
    async with nacre.Tool("workspace", session="benchmark") as tool:
        for number in range(rounds + WARM_UP):
            started = time.perf_counter()
            await tool.call({"command": COMMAND})
            times["library"].append((time.perf_counter() - started) * 1000)
            for name, pipe in pipes.items():
                started = time.perf_counter()
                pipe.call()
                times[name].append((time.perf_counter() - started) * 1000)
            started = time.perf_counter()
            pipes[ERAS[0]].ask("ping", {})
            times["ping"].append((time.perf_counter() - started) * 1000)
            if number == WARM_UP:
                times = {name: [] for name in times}
    for pipe in pipes.values():
        pipe.close()
    return times


def measure_other(server: Server, rounds: int) -> list[float]:
    """Milliseconds of each call of another server, apart from nacre's: it would take the processor's caches."""
    pipe, times = Pipe(ERAS[0], server), []
    for _ in range(rounds + WARM_UP):
        started = time.perf_counter()
        pipe.call()
        times.append((time.perf_counter() - started) * 1000)
    pipe.close()
    return times[WARM_UP:]


def installed() -> list[Server]:
    """The servers of others that `make peers` has installed."""
    found = []
    for server in OTHERS:
        program, script, *arguments = server.command
        if (HOME / server.name / script).exists():
            command = [program, str(HOME / server.name / script), *arguments]
            found.append(Server(server.name, command, server.tool, server.arguments))
    return found


def verdict(value: float, most: float) -> str:
    return f"at most {most:g}: {'kept' if value <= most else 'missed'}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--starts", type=int, default=15)
    parser.add_argument("--rc", default="", metavar="LINES", help="the lines of the user's ~/.bashrc")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target is missed")
    options = parser.parse_args()
    others = installed()
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as home:
        os.environ["NACRE_HOME"] = os.environ["HOME"] = home
        # Desktop Commander would report what it does.
        os.environ["DESKTOP_COMMANDER_DISABLE_TELEMETRY"] = "1"
        if options.rc:
            (Path(home) / ".bashrc").write_text(f"{options.rc}\n", encoding="utf-8")
        bare, started = starts(options.starts, [NACRE, *others])
        memory = {server.name: pss_mb(server) for server in (NACRE, *others)}
        times = asyncio.run(measure(options.rounds))
        times |= {server.name: measure_other(server, options.rounds // 5) for server in others}
    medians = f"medians of {options.starts} starts and {options.rounds} calls (a fifth of those of others)"
    print(f"load {os.getloadavg()[0]:.1f}; {medians}")
    if len(others) < len(OTHERS):
        print(f"not installed: {', '.join(one.name for one in OTHERS if not (HOME / one.name).exists())} (make peers)")
    floor = statistics.median(bare)
    print(f"\n{'start':<40}{'ms':>8}{'times floor':>13}\n{FLOOR:<40}{floor * 1e3:>8.1f}{1:>13.2f}")
    missed = False
    for name, found in started.items():
        steps = zip(("tools/list", "first result"), (MOST_LISTED, MOST_FIRST), zip(*found, strict=True), strict=True)
        for what, most, values in steps:
            ratio = statistics.median(values) / floor
            goal = verdict(ratio, most) if name == NACRE.name else ""
            missed |= "missed" in goal
            print(f"{f'{name}: {what}':<40}{ratio * floor * 1e3:>8.1f}{ratio:>13.2f}  {goal}")
    print(f"\n{'idle memory':<40}{'PSS MB':>8}")
    for name, size in memory.items():
        goal = verdict(size, MOST_PSS_MB) if name == NACRE.name else ""
        missed |= "missed" in goal
        print(f"{name:<40}{size:>8.1f}  {goal}")
    base = statistics.median(times["library"])
    print(f"\n{f'`{COMMAND}`, milliseconds':<28}{'median':>8}{'p10':>8}{'p90':>8}{'above':>8}")
    for name, taken in times.items():
        tenths = statistics.quantiles(taken, n=10)
        above = statistics.median(taken) - base
        goal = verdict(above, MOST_ABOVE_MS) if name in ERAS else ""
        missed |= "missed" in goal
        print(f"{name:<28}{statistics.median(taken):8.3f}{tenths[0]:8.3f}{tenths[8]:8.3f}{above:8.3f}  {goal}")
    return 1 if missed and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
