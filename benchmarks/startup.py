"""How long nacre takes to be there: the command line against a bare Python, and what importing it costs.

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

# Issue 5: at most 120 ms where `python -c pass` takes 20, and 30 ms of import that are nacre's own.
MOST_RATIO = 6.0
MOST_IMPORT_MS = 30.0

NACRE = str(Path(sys.executable).with_name("nacre"))
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "python -c 'import nacre'": [sys.executable, "-c", "import nacre"],
    "python -c 'from nacre import run'": [sys.executable, "-c", "from nacre import run"],
    "nacre --help": [NACRE, "--help"],
    "nacre run true": [NACRE, "run", "--", "true"],
}


def wall(rounds: int) -> dict[str, list[float]]:
    """Seconds of each command, one of each a round, so that a busy moment hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for number in range(rounds + 1):
        for name, command in COMMANDS.items():
            began = time.perf_counter()
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
            # The first round reads the files into the cache.
            if number:
                times[name].append(time.perf_counter() - began)
    return times


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
    with tempfile.TemporaryDirectory(prefix="nacre-startup-") as home:
        os.environ["NACRE_HOME"] = home
        times = wall(options.rounds)
    bare = statistics.median(times["python -c pass"])
    print(f"{'':<36}{'median ms':>10}{'p95 ms':>9}{'times bare':>12}")
    for name, values in times.items():
        median, p95 = statistics.median(values), sorted(values)[int(len(values) * 0.95)]
        print(f"{name:<36}{median * 1e3:>10.1f}{p95 * 1e3:>9.1f}{median / bare:>12.2f}")
    found = []
    if (ratio := statistics.median(times["nacre run true"]) / bare) > MOST_RATIO:
        found.append(f"`nacre run true` takes {ratio:.1f} times a bare Python; at most {MOST_RATIO:g} are allowed")
    for statement in ("import nacre", "from nacre import run"):
        milliseconds, dearest = import_milliseconds(statement, max(3, options.rounds // 6))
        listed = ", ".join(f"{name} {cost:.1f}" for name, cost in dearest.items())
        print(f"`{statement}`: {milliseconds:.1f} ms of import beyond a bare Python; dearest: {listed}")
        if statement == "import nacre" and milliseconds > MOST_IMPORT_MS:
            found.append(f"`import nacre` costs {milliseconds:.1f} ms; at most {MOST_IMPORT_MS:g} are allowed")
    for flaw in found:
        print(f"wrong: {flaw}", file=sys.stderr)
    return 1 if options.check and found else 0


if __name__ == "__main__":
    sys.exit(main())
