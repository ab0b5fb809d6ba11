"""What was measured, as values: one for each tool and workload, and their statistics."""

from __future__ import annotations

import dataclasses
import json
import statistics
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.peers.catalogue import ENTRIES, Entry


@dataclass(slots=True)
class Measured:
    """The times of one tool in one workload, or why there are none."""

    times: list[float] = field(default_factory=list)
    failure: str = ""
    growth_bytes: int = 0
    """The most memory that a call took beyond what was resident before it."""
    chars: int = 0
    """How much of the output came back."""
    wrong: int = 0
    """How many of the answers lacked what the command wrote."""

    @property
    def median(self) -> float | None:
        return statistics.median(self.times) if self.times and not self.failure else None

    @property
    def p95(self) -> float | None:
        return sorted(self.times)[int(len(self.times) * 0.95)] if self.median is not None else None


@dataclass(slots=True)
class Judged:
    """How a tool did in one case of robustness."""

    ok: bool
    note: str


@dataclass(slots=True)
class Results:
    """One run of everything."""

    machine: str
    options: str
    versions: dict[str, str] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    workloads: dict[str, dict[str, Measured]] = field(default_factory=dict)
    robustness: dict[str, dict[str, Judged]] = field(default_factory=dict)
    runner_kilobytes: list[int] = field(default_factory=list)
    """Private memory of each process that watches a background job."""
    late_seconds: dict[str, list[float]] = field(default_factory=dict)
    """By how much calls whose far side was attacked came back after timeout and grace."""

    def entries(self) -> list[Entry]:
        """The tools that were there, in the order of the catalogue."""
        return [entry for entry in ENTRIES if entry.name not in self.absent]

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(dataclasses.asdict(self)), encoding="utf-8")


def load(path: Path) -> Results:
    """What `save` wrote."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    workloads = stored.pop("workloads")
    robustness = stored.pop("robustness")
    return Results(
        **stored,
        workloads={
            key: {name: Measured(**values) for name, values in tools.items()} for key, tools in workloads.items()
        },
        robustness={
            name: {case: Judged(**values) for case, values in cases.items()} for name, cases in robustness.items()
        },
    )
