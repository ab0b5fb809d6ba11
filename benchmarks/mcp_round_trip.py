"""`python -m benchmarks.mcp_round_trip`: what `nacre mcp` adds to a call over stdio, above the library in the same run.

The client is a bare pipe: it writes a line and waits for a line, so that no client library is measured. Calls of the
library and of the server alternate, and each figure is a median of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

import nacre

COMMAND = "true"
WARM_UP = 30
GOAL_MS = 1.5


class Pipe:
    """A client of one server process."""

    def __init__(self, era: str) -> None:
        self._meta: dict[str, Any] = {}
        self._number = 0
        self.process = subprocess.Popen(
            [sys.executable, "-m", "nacre", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
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
        line = b""
        while not line.endswith(b"\n"):
            line += os.read(self.process.stdout.fileno(), 65536)
        result: dict[str, Any] = json.loads(line)["result"]
        return result

    def call(self) -> None:
        result = self.ask("tools/call", {"name": "bash", "arguments": {"command": COMMAND}})
        assert not result["isError"], result

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(30)


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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=500)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as home:
        os.environ["NACRE_HOME"] = home
        times = asyncio.run(measure(rounds))
    base = statistics.median(times["library"])
    print(f"{rounds} rounds of `{COMMAND}`, load {os.getloadavg()[0]:.1f}; milliseconds")
    print(f"{'':<12}{'median':>8}{'p10':>8}{'p90':>8}{'above':>8}")
    for name, found in times.items():
        tenths = statistics.quantiles(found, n=10)
        above = statistics.median(found) - base
        print(f"{name:<12}{statistics.median(found):8.3f}{tenths[0]:8.3f}{tenths[8]:8.3f}{above:8.3f}")
    worst = max(statistics.median(times[era]) - base for era in ("2025-11-25", "2026-07-28"))
    print(f"goal: at most {GOAL_MS} ms above the library; worst {worst:.3f} ms")
    return 0 if worst <= GOAL_MS else 1


if __name__ == "__main__":
    sys.exit(main())
