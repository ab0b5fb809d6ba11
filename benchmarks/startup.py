"""How long nacre takes to start: the command line against a Python that imports asyncio, and the cost of importing it.

python -m benchmarks.startup [--rounds N] [--check]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measured import Measured

FLOOR = "python -c 'import asyncio'"
CLI = "nacre run true"
# `nacre run true` against the floor.
MOST_RATIO = 2.0

NACRE = str(Path(sys.executable).with_name("nacre"))
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    FLOOR: [sys.executable, "-c", "import asyncio"],
    "python -c 'import nacre'": [sys.executable, "-c", "import nacre"],
    "python -c 'from nacre import run'": [sys.executable, "-c", "from nacre import run"],
    "nacre --help": [NACRE, "--help"],
    CLI: [NACRE, "run", "--", "true"],
}


def wall(rounds: int) -> dict[str, Measured]:
    """Time each command, one of each a round, so that a busy moment hits all alike."""
    measured = {name: Measured() for name in COMMANDS}
    with tempfile.TemporaryDirectory(prefix="nacre-startup-") as home:
        environment = {**os.environ, "NACRE_HOME": home}
        # It has modules that were changed compiled at every start, which an installation never does.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for number in range(rounds + 1):
            for name, command in COMMANDS.items():
                began = time.perf_counter()
                subprocess.run(
                    command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=environment, check=True
                )
                # The first round reads the files into the cache.
                if number:
                    measured[name].times.append(time.perf_counter() - began)
    return measured


def import_milliseconds(statement: str, rounds: int) -> tuple[float, dict[str, float]]:
    """What the statement imports that a bare Python does not: the median of the sum, and the dearest modules."""
    sums: list[float] = []
    dearest: dict[str, float] = {}
    bare = set(_modules("pass"))
    for _ in range(rounds):
        own = {name: cost for name, cost in _modules(statement).items() if name not in bare}
        sums.append(sum(own.values()))
        dearest = dict(sorted(own.items(), key=lambda each: -each[1])[:5])
    return statistics.median(sums), dearest


def _modules(statement: str) -> dict[str, float]:
    """Milliseconds of each imported module by itself, as `-X importtime` tells."""
    told = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", statement], capture_output=True, text=True, check=True
    ).stderr
    found = {}
    for line in told.splitlines():
        own, _, name = line.removeprefix("import time:").split("|")
        if own.strip().isdigit():
            found[name.strip()] = int(own) / 1e3
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.startup", description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--check", action="store_true", help="exit with 1 if it takes longer than it may")
    options = parser.parse_args()
    measured = wall(options.rounds)
    floor = statistics.median(measured[FLOOR].times)
    print(f"{'':<36}{'median ms':>10}{'p95 ms':>9}{'times floor':>12}")
    for name, each in measured.items():
        median, p95 = statistics.median(each.times), sorted(each.times)[int(len(each.times) * 0.95)]
        print(f"{name:<36}{median * 1e3:>10.1f}{p95 * 1e3:>9.1f}{median / floor:>12.2f}")
    for statement in ("import nacre", "from nacre import run"):
        milliseconds, dearest = import_milliseconds(statement, max(3, options.rounds // 6))
        listed = ", ".join(f"{name} {cost:.1f}" for name, cost in dearest.items())
        print(f"`{statement}`: {milliseconds:.1f} ms of import beyond a bare Python; dearest: {listed}")
    ratio = statistics.median(measured[CLI].times) / floor
    if ratio <= MOST_RATIO:
        return 0
    print(f"wrong: `{CLI}` takes {ratio:.2f} times `{FLOOR}`; at most {MOST_RATIO:g} are allowed", file=sys.stderr)
    return 1 if options.check else 0


if __name__ == "__main__":
    sys.exit(main())
