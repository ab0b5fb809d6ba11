"""`nacre cluster`: its summary, and what it says where Ray or a cluster is missing."""

from __future__ import annotations

from pathlib import Path

from nacre.cli.verb_cluster import plot_of, summary_of
from nacre.cluster.task_map import Tally
from nacre.cluster.task_results import open_results


def test_durations_are_counted_in_ranges() -> None:
    assert plot_of([]) == []
    assert plot_of([3.0, 9.0, 25.0, 2000.0]) == [
        f"  ≤  10 ms       2  {'█' * 30}",
        f"  ≤  40 ms       1  {'█' * 15}",
        f"  ≤    3 s       1  {'█' * 15}",
    ]


def test_the_summary_names_what_is_not_known(tmp_path: Path) -> None:
    results = open_results(tmp_path / "r.sqlite")
    results.ended("a", "done", {"wallTimeMs": 5})
    text = summary_of(Tally(3, succeeded=1, unknown=1, skipped=1), results, ["b"], tmp_path / "r.sqlite")
    results.close()
    assert text.splitlines()[0] == (
        f"3 tasks: 1 succeeded, 0 failed, 1 unknown, 1 finished before; results in {tmp_path}/r.sqlite"
    )
    assert text.splitlines()[1] == "not known how they ended, and not run again: b"
