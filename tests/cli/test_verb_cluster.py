"""`nacre cluster`: its summary, and what it says about wrong files before it waits for a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.conftest import Nacre
from nacre.cli.verb_cluster import ends_of, plot_of, summary_of
from nacre.cluster.task_map import Tally
from nacre.cluster.task_results import open_results


def test_durations_are_counted_in_ranges() -> None:
    assert plot_of([]) == []
    assert plot_of([3.0, 9.0, 25.0, 2000.0, 500_000.0]) == [
        f"  ≤  10 ms       2  {'█' * 30}",
        f"  ≤  40 ms       1  {'█' * 15}",
        f"  ≤  2.6 s       1  {'█' * 15}",
        f"  ≤ 11 min       1  {'█' * 15}",
    ]


def test_the_summary_names_what_failed_and_what_is_not_known(tmp_path: Path) -> None:
    results = open_results(tmp_path / "r.sqlite")
    results.ended("a", "done", {"outcome": "exited", "exitCode": 0, "wallTimeMs": 5})
    results.ended("b", "unknown", {})
    results.ended("c", "done", {"outcome": "exited", "exitCode": 3, "wallTimeMs": 5})
    results.ended("d", "done", {"outcome": "timedOut", "exitCode": None, "wallTimeMs": 5})
    results.ended("of another file", "done", {"outcome": "lost"})
    ends = ends_of(results, {"a", "b", "c", "d"})
    results.close()
    lines = summary_of(Tally(4, failed=1, unknown=1, skipped=2), ends, tmp_path / "r.sqlite").splitlines()
    assert lines[:3] == [
        f"4 tasks: 0 succeeded, 1 failed, 1 unknown, 2 finished before; results in {tmp_path}/r.sqlite",
        "failed: c (exit code 3), d (timed out)",
        "not known how they ended, and not run again without --retry-unknown: b",
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("not json", "tasks.jsonl:1: the line is not JSON"),
        ('{"comand": "true"}', 'tasks.jsonl:1: a task is an object with a string "command" that is not empty'),
        ('{"command": "true", "timeout": "5"}', "tasks.jsonl:1: timeout must be a number of seconds above 0"),
        ('{"command": "true", "env": {"A": 1}}', "tasks.jsonl:1: "),
        ('{"command": "true", "cwd": 5}', "tasks.jsonl:1: cwd must be a string, got 5"),
        ('{"command": "true", "id": null}', "tasks.jsonl:1: id must be a string or a whole number, got null"),
    ],
)
def test_a_wrong_file_is_told_before_a_cluster_is_waited_for(
    nacre: Nacre, tmp_path: Path, line: str, said: str
) -> None:
    (tmp_path / "tasks.jsonl").write_text(line + "\n", encoding="utf-8")
    done = nacre("cluster", "map", "--address", "127.0.0.1:1", "--jobs", "tasks.jsonl", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert not (tmp_path / "tasks.sqlite").exists()


def test_a_count_below_one_is_refused(nacre: Nacre) -> None:
    done = nacre("cluster", "map", "--jobs", "x", "--at-once", "0")
    assert done.code == 2
    assert "'0' is not a whole number above 0" in done.err
