"""`python -m benchmarks.mcp_round_trip`: how `nacre mcp` starts, what it holds, and what it adds to a call over stdio.

The client is a bare pipe: it writes a line and waits for a line, so that no client library is measured. Starts are
compared with `python -c 'import asyncio'`, one of each a round. Calls of the library and of the server alternate. Each
figure is a median of its own. The home directory is empty: reading the user's ~/.bashrc takes the time that it takes.
`--server 'node server.js'` measures the start and memory of another server beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
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
NACRE = [sys.executable, "-m", "nacre", "mcp"]
# Other servers, where `make peers` has installed them: name → program and arguments below its folder.
OTHERS = {"desktop-commander": ("node", "node_modules/@wonderwhy-er/desktop-commander/dist/index.js")}


class Pipe:
    """A client of one server process."""

    def __init__(self, era: str, command: list[str] = NACRE) -> None:
        self._meta: dict[str, Any] = {}
        self._number = 0
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
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
        result = self.ask("tools/call", {"name": "bash", "arguments": {"command": COMMAND}})
        assert not result["isError"], result

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(30)


def start(command: list[str], *, calls: bool) -> list[float]:
    """Seconds from the start of a server to its list of tools, and to the result of its first call."""
    began = time.perf_counter()
    pipe = Pipe("2025-11-25", command)
    pipe.ask("tools/list", {})
    times = [time.perf_counter() - began]
    if calls:
        pipe.call()
        times.append(time.perf_counter() - began)
    pipe.close()
    return times


def starts(rounds: int, servers: dict[str, list[str]]) -> dict[str, list[list[float]]]:
    """The floor and each server, one of each a round, so that a busy moment hits all alike."""
    found: dict[str, list[list[float]]] = {FLOOR: [], **{name: [] for name in servers}}
    for number in range(rounds + 1):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import asyncio"], check=True)
        taken = {FLOOR: [time.perf_counter() - began]}
        taken |= {name: start(command, calls=command == NACRE) for name, command in servers.items()}
        # The first round reads the files into the cache.
        if number:
            for name, times in taken.items():
                found[name].append(times)
    return found


def pss_mb(command: list[str]) -> float:
    """Of an idle server and of all that it has started; the helpers of nacre leave their parent."""
    become_subreaper()
    before = _pids()
    pipe = Pipe("2025-11-25", command)
    pipe.ask("tools/list", {})
    if command == NACRE:
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
    """Milliseconds of each call, by what made it."""
    times: dict[str, list[float]] = {"library": [], "2025-11-25": [], "2026-07-28": [], "ping": []}
    pipes = {era: Pipe(era) for era in ("2025-11-25", "2026-07-28")}
    async with nacre.Tool("workspace", session="benchmark") as tool:
        for number in range(rounds + WARM_UP):
            started = time.perf_counter()
            await tool.call({"command": COMMAND})
            times["library"].append((time.perf_counter() - started) * 1000)
            for era, pipe in pipes.items():
                started = time.perf_counter()
                pipe.call()
                times[era].append((time.perf_counter() - started) * 1000)
            started = time.perf_counter()
            pipes["2025-11-25"].ask("ping", {})
            times["ping"].append((time.perf_counter() - started) * 1000)
            if number == WARM_UP:
                times = {name: [] for name in times}
    for pipe in pipes.values():
        pipe.close()
    return times


def others() -> dict[str, list[str]]:
    """The other servers that are installed."""
    found = {}
    for name, (program, path) in OTHERS.items():
        script = HOME / name / path
        if script.exists():
            found[name] = [program, str(script)]
    return found


def verdict(value: float, most: float) -> str:
    return f"at most {most:g}: {'kept' if value <= most else 'missed'}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--starts", type=int, default=15)
    parser.add_argument("--server", action="append", default=[], metavar="COMMAND", help="another server")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target is missed")
    options = parser.parse_args()
    servers = {"nacre mcp": NACRE, **others(), **{line: shlex.split(line) for line in options.server}}
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as home:
        os.environ["NACRE_HOME"] = os.environ["HOME"] = home
        started = starts(options.starts, servers)
        memory = {name: pss_mb(command) for name, command in servers.items()}
        times = asyncio.run(measure(options.rounds))
    print(f"load {os.getloadavg()[0]:.1f}; medians of {options.starts} starts and {options.rounds} calls")
    floor = statistics.median(one for (one,) in started.pop(FLOOR))
    print(f"\n{'start':<40}{'ms':>8}{'times floor':>13}\n{FLOOR:<40}{floor * 1e3:>8.1f}{1:>13.2f}")
    missed = False
    for name, found in started.items():
        steps = zip(("tools/list", "first result"), (MOST_LISTED, MOST_FIRST), zip(*found, strict=True), strict=False)
        for what, most, values in steps:
            ratio = statistics.median(values) / floor
            goal = verdict(ratio, most) if name == "nacre mcp" else ""
            missed |= "missed" in goal
            print(f"{f'{name}: {what}':<40}{ratio * floor * 1e3:>8.1f}{ratio:>13.2f}  {goal}")
    print(f"\n{'idle memory':<40}{'PSS MB':>8}")
    for name, size in memory.items():
        goal = verdict(size, MOST_PSS_MB) if name == "nacre mcp" else ""
        missed |= "missed" in goal
        print(f"{name:<40}{size:>8.1f}  {goal}")
    base = statistics.median(times["library"])
    print(f"\n{f'`{COMMAND}`, milliseconds':<28}{'median':>8}{'p10':>8}{'p90':>8}{'above':>8}")
    for name, taken in times.items():
        tenths = statistics.quantiles(taken, n=10)
        above = statistics.median(taken) - base
        goal = verdict(above, MOST_ABOVE_MS) if name.startswith("20") else ""
        missed |= "missed" in goal
        print(f"{name:<28}{statistics.median(taken):8.3f}{tenths[0]:8.3f}{tenths[8]:8.3f}{above:8.3f}  {goal}")
    return 1 if missed and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
