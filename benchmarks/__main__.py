"""`make bench`: nacre, the floors and the peers that are installed, in turns in one run.

A full run writes docs/benchmarks.md and docs/benchmarks.svg; a part of it, or a quick one, is only printed. Ratios to
the floor of the same run count, because machines differ.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from benchmarks import measured, plot, report, robustness, startup, workloads
from benchmarks.measured import Results
from benchmarks.peers.catalogue import ENTRIES, HOME, ROOT
from benchmarks.peers.remote import NotInstalledError, RemoteTool, ToolFailedError, ToolHangsError

SUITES = ("startup", "latency", "large", "concurrency", "jobs", "robustness")
# Hanging takes its time, so a quick run leaves the cases of robustness out unless they are named.
QUICK_SUITES = ("startup", "latency", "large", "concurrency", "jobs")
# Verdicts do not depend on speed, so these may overlap; more would make tools late that are not.
JUDGED_AT_ONCE = 6


def machine() -> str:
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next(
            (line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown processor"
        )
    bash = subprocess.run(["bash", "-c", "echo $BASH_VERSION"], capture_output=True, text=True, check=True).stdout
    return (
        f"{os.cpu_count()} cores ({model}), Linux {platform.release()}, bash {bash.strip()}, "
        f"Python {platform.python_version()}, load {os.getloadavg()[0]:.1f} at the start"
    )


@contextmanager
def started(only: list[str], results: Results) -> Iterator[list[RemoteTool]]:
    """Start the tools that are installed; keep why the others are absent."""
    with tempfile.TemporaryDirectory(prefix="nacre-bench-", ignore_cleanup_errors=True) as scratch:
        # Without the floors there would be no ratios.
        asked = [
            entry for entry in ENTRIES if not only or entry.kind == "floor" or any(part in entry.name for part in only)
        ]
        results.absent |= {entry.name: "not asked for" for entry in ENTRIES if entry not in asked}
        tools = [RemoteTool(entry, Path(scratch)) for entry in asked]
        try:
            with ThreadPoolExecutor(os.cpu_count()) as threads:
                reasons = list(threads.map(why_absent, tools))
            for tool, reason in zip(tools, reasons, strict=True):
                if reason:
                    results.absent[tool.entry.name] = reason
                else:
                    results.versions[tool.entry.name] = tool.version
            yield [tool for tool in tools if tool.entry.name in results.versions]
        finally:
            for tool in tools:
                tool.stop()


def why_absent(tool: RemoteTool) -> str:
    """Start the tool; why it is not there, if it is not."""
    try:
        tool.start()
    except (NotInstalledError, ToolFailedError, ToolHangsError) as error:
        return " ".join(str(error).split())[:200]
    return ""


def note(text: str) -> None:
    """Print progress on stderr."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def measure(suites: list[str], only: list[str], effort: workloads.Effort) -> Results:
    results = Results(machine=machine(), options=describe(effort))
    if "startup" in suites:
        note("startup")
        results.workloads["startup"] = startup.wall(effort.rounds * 3)
    if "jobs" in suites:
        note("jobs")
        # In a program of its own: the jobs' processes are forks of that program's warden.
        told = subprocess.run([sys.executable, "-m", "benchmarks.jobs", "--memory"], stdout=subprocess.PIPE, check=True)
        results.runner_kilobytes = json.loads(told.stdout)
    note("starting the tools")
    with started(only, results) as tools:
        for name, reason in results.absent.items():
            note(f"{name}: {reason}")
        if "latency" in suites:
            for each in workloads.LATENCIES:
                note(each.title)
                results.workloads[each.key] = workloads.latency(tools, each, effort)
        if "large" in suites:
            note("large output")
            results.workloads["large"] = workloads.large(tools, effort)
        if "concurrency" in suites:
            fewer: dict[str, measured.Measured] = {}
            for count in workloads.AT_ONCE:
                note(f"{count} at once")
                fewer = workloads.at_once(tools, count, effort, fewer)
                results.workloads[f"at_once_{count}"] = fewer
        if "robustness" in suites:
            note("robustness")
            results.late_seconds = robustness.lateness()
            judged = [tool for tool in tools if tool.entry.only is None]
            with ThreadPoolExecutor(JUDGED_AT_ONCE) as threads:
                verdicts = threads.map(robustness.judge_all, judged)
                results.robustness = {tool.entry.name: each for tool, each in zip(judged, verdicts, strict=True)}
    return results


def describe(effort: workloads.Effort) -> str:
    return (
        f"{effort.rounds} rounds of up to {effort.calls} calls each; {effort.large_rounds} rounds of "
        f"{effort.large_bytes >> 20} MiB ({workloads.MORE_ROUNDS} more for tools that are quick) and of calls at once"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"one or more of {', '.join(SUITES)}; default: all")
    parser.add_argument("--quick", action="store_true", help="a few minutes instead of a quarter of an hour")
    parser.add_argument(
        "--only", action="append", default=[], metavar="PART", help="only tools with this in their name, and the floors"
    )
    parser.add_argument("--out", type=Path, help="write benchmarks.md and .svg into this folder, whatever was run")
    parser.add_argument("--render", action="store_true", help="write again what the last run measured")
    options = parser.parse_args()
    if unknown := [name for name in options.suites if name not in SUITES]:
        parser.error(f"unknown suite {unknown[0]!r}; known: {', '.join(SUITES)}")
    last = HOME / "last-run.json"
    if options.render:
        results = measured.load(last)
    else:
        effort = workloads.QUICK if options.quick else workloads.FULL
        suites = options.suites or list(QUICK_SUITES if options.quick else SUITES)
        results = measure(suites, options.only, effort)
        results.save(last)
    print(report.render(results))
    partial = options.suites or options.quick or options.only
    if options.out or options.render or not partial:
        folder = options.out or ROOT / "docs"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "benchmarks.md").write_text(report.render(results), encoding="utf-8")
        (folder / "benchmarks.svg").write_text(plot.render(results), encoding="utf-8")


if __name__ == "__main__":
    main()
