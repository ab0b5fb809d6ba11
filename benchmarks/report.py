"""The tables of a run, as Markdown. Failures are rows like any other."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks import startup
from benchmarks.measured import Measured, Results
from benchmarks.peers.catalogue import Entry
from benchmarks.robustness import CASES
from benchmarks.workloads import AT_ONCE, AT_ONCE_SCRIPT, FLOORS, LATENCIES

MIB = 1 << 20

TITLES = {
    **{each.key: each.title for each in LATENCIES},
    "large": "a flood: `yes | head -c …`",
    **{f"at_once_{count}": f"{count} at once: `{AT_ONCE_SCRIPT}`" for count in AT_ONCE},
    "startup": "a process of its own, from start to exit",
}


@dataclass(frozen=True, slots=True)
class Target:
    """At most so many times the floor of the same run."""

    workload: str
    tool: str
    ratio: float


TARGETS = (
    Target("true_paced", "nacre, warden + spares", 0.5),
    Target("true", "nacre, in-process", 1.3),
    Target("true_paced", "nacre, in-process", 1.3),
    Target("true", "nacre, warden", 1.5),
    Target("true_paced", "nacre, warden", 1.5),
    Target("true", "nacre workspace tool", 0.45),
    Target("true_paced", "nacre workspace tool", 0.45),
    Target("startup", startup.CLI, 2.0),
    Target("large", "nacre, warden", 1.33),
    Target("at_once_500", "nacre, warden", 1.5),
)
# Private memory of the process that watches one background job.
RUNNER_KILOBYTES = 1024
# How much later than timeout and grace a call may come back (P1).
LATE_SECONDS = 1.0

HEAD = """# Benchmarks

nacre, the floors (what the standard library spends) and other shell tools for agents, in turns in one run.
Made by `make bench`; `make peers` installs the others. Read the ratios: they are taken to the floor of the same run,
while times depend on the machine.

![{alt}](benchmarks.svg)

- Machine: {machine}.
- Effort: {options}. Times are taken inside each tool's own process, around its public call, after a round to warm up;
  a tool that blocks gets a thread for each of the calls at once.
- Pace: back to back, caches are warm and the processor awake, but nothing can be prepared between two calls; with 5 ms
  between them it is the other way round. An agent's calls are further apart still. Shells started in advance need the
  pause; the other ways are shown at both paces. `warden + spares` is how nacre runs by default; the workspace tool is
  `Tool("workspace").call` in its session.
- Kinds: *one-shot* starts a shell for each command, *session* keeps one, *server* is asked over MCP (by the same bare
  client). What keeps a shell runs one command at a time, so it is not asked for many at once.
- langchain's ShellTool and deepagents run `/bin/sh`, on Debian dash, which starts in 0.6 of the time of bash.
  pi-natives is a bash rewritten in Rust inside the calling process: its builtins (`seq`, `sleep` and `yes` too) need no
  process, and nothing separates them from it; `/bin/true` is where it compares. mcp-shell-server runs argument lists
  and pipes of them, no scripts.
"""


def render(results: Results) -> str:
    parts = [HEAD.format(alt="Latency, throughput and robustness", machine=results.machine, options=results.options)]
    parts.append(_versions(results))
    if results.workloads:
        parts += [_targets(results), _lead(results)]
    for key, measured in results.workloads.items():
        parts.append(_workload(results, key, measured))
    if results.robustness:
        parts.append(_robustness(results))
    return "\n".join(parts)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    columns = list(head)
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    lines += ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _name(entry: Entry) -> str:
    return f"**{entry.name}**" if entry.ours else entry.name


def _versions(results: Results) -> str:
    rows = [(_name(entry), entry.kind, results.versions[entry.name]) for entry in results.entries()]
    text = "## What was measured\n\n" + _table(("tool", "kind", "version"), rows)
    if results.absent:
        text += "\nNot measured:\n\n" + "".join(f"- {name}: {why}\n" for name, why in results.absent.items())
    return text


def _floor(results: Results, key: str) -> float | None:
    floor = results.workloads[key].get(FLOORS[key])
    return None if floor is None else floor.median


def _ratio(value: float | None, floor: float | None) -> str:
    return "" if value is None or floor is None else f"{value / floor:.2f}"


def _targets(results: Results) -> str:
    rows = []
    for target in TARGETS:
        measured = results.workloads.get(target.workload, {}).get(target.tool)
        floor = _floor(results, target.workload) if target.workload in results.workloads else None
        if measured is None or target.workload not in results.workloads:
            verdict, ratio = "not measured", ""
        elif measured.median is None or floor is None:
            verdict, ratio = "fails" if measured.median is None else "the floor fails", ""
        else:
            verdict = "met" if measured.median / floor <= target.ratio else "**missed**"
            ratio = f"{measured.median / floor:.2f}"
        rows.append((TITLES[target.workload], target.tool, f"≤ {target.ratio:g}", ratio, verdict))
    if results.runner_kilobytes:
        typical = statistics.median(results.runner_kilobytes)
        verdict = "met" if typical <= RUNNER_KILOBYTES else "**missed**"
        way = f"{len(results.runner_kilobytes)} jobs of the workspace tool"
        rows.append(("private memory of a job's runner", way, f"≤ {RUNNER_KILOBYTES} KB", f"{typical:.0f} KB", verdict))
    for case, times in results.late_seconds.items():
        verdict = "met" if max(times) <= LATE_SECONDS else "**missed**"
        rows.append(("answer after timeout + grace", case, f"≤ {LATE_SECONDS:g} s", f"{max(times):.2f} s", verdict))
    return "## What nacre owes\n\n" + _table(("workload", "way", "times the floor", "measured", ""), rows)


def _lead(results: Results) -> str:
    """The best of ours against the best of the others of the same kind, and against the best that starts processes."""
    rows = []
    for key, measured in results.workloads.items():
        for kind in ("one-shot", "session", "server"):
            of_kind = [entry for entry in results.entries() if entry.kind == kind]
            ours = _best([entry for entry in of_kind if entry.ours], measured)
            others = [entry for entry in of_kind if not entry.ours]
            if ours is None or not others:
                continue
            apart = [entry for entry in others if not entry.in_caller]
            rows.append((TITLES[key], kind, f"{ours[0]}: {_time(ours[1])}", *_against(ours[1], others, measured),
                         *_against(ours[1], apart, measured)))  # fmt: skip
    head = (
        "workload",
        "kind",
        "nacre's best",
        "the best of the others",
        "theirs / ours",
        "… that starts processes",
        "",
    )
    return "## Against the best of the others\n\n" + _table(head, rows)


def _against(ours: float, others: list[Entry], measured: dict[str, Measured]) -> tuple[str, str]:
    best = _best(others, measured)
    if best is None:
        return "all fail", "ahead"
    name, theirs = best
    return f"{name}: {_time(theirs)}", f"{theirs / ours:.2f}, " + ("ahead" if ours <= theirs else "behind")


def _best(entries: list[Entry], measured: dict[str, Measured]) -> tuple[str, float] | None:
    found = [
        (entry.name, median)
        for entry in entries
        if entry.name in measured and (median := measured[entry.name].median) is not None
    ]
    return min(found, key=lambda each: each[1], default=None)


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3f} ms"


def _workload(results: Results, key: str, measured: dict[str, Measured]) -> str:
    floor = _floor(results, key)
    large = key == "large"
    rows = []
    entries = {entry.name: entry for entry in results.entries()}
    for name, mine in measured.items():
        entry = entries.get(name)
        shown, kind = (name, "process") if entry is None else (_name(entry), entry.kind)
        row = [shown, kind, str(len(mine.times)), _time(mine.median), _time(mine.p95)]
        row.append(_ratio(mine.median, floor))
        if large:
            row += [f"{mine.growth_bytes / MIB:.1f}", f"{mine.chars:,}"] if not mine.failure else ["", ""]
        row.append(f"**fails**: {mine.failure[:120]}" if mine.failure else "")
        rows.append((mine.median is None, mine.median or 0.0, row))
    rows.sort(key=lambda each: each[:2])
    extra = ("peak memory growth, MiB", "characters returned") if large else ()
    head = ("tool", "kind", "n", "median", "p95", f"times {FLOORS[key].removeprefix('floor: ')}", *extra, "")
    return f"## {TITLES[key][0].upper()}{TITLES[key][1:]}\n\n" + _table(head, (row for _, _, row in rows))


def _robustness(results: Results) -> str:
    legend = "".join(f"{number}. {case.title}\n" for number, case in enumerate(CASES, 1))
    rows = []
    for entry in results.entries():
        verdicts = results.robustness.get(entry.name)
        if verdicts is None:
            continue
        passed = sum(each.ok for each in verdicts.values())
        marks = ["✓" if verdicts[case.title].ok else "✗" for case in CASES]
        rows.append((-passed, [_name(entry), f"{passed} of {len(CASES)}", *marks]))
    rows.sort(key=lambda each: each[0])
    head = ("tool", "right", *(str(number) for number in range(1, len(CASES) + 1)))
    failures = "".join(
        f"- {name}: " + "; ".join(f"({number}) {verdicts[case.title].note}" for number, case in enumerate(CASES, 1)
                                   if not verdicts[case.title].ok) + "\n"
        for name, verdicts in results.robustness.items()
        if not all(each.ok for each in verdicts.values())
    )  # fmt: skip
    return (
        f"## Robustness\n\n{legend}\n"
        "A case is right when the call comes back in time with what happened, nothing that should have ended is left\n"
        f"running, and the tool works afterwards.\n\n{_table(head, (row for _, row in rows))}\n"
        f"What failed:\n\n{failures}"
    )
