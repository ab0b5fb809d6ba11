"""The harness of the benchmarks shows a failing tool as failing and ends one that hangs; the walk does not grow."""

from __future__ import annotations

import itertools
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from benchmarks import plot, report, robustness, startup, walk, workloads
from benchmarks.measured import Judged, Measured, Results, load
from benchmarks.peers.catalogue import ENTRIES, ENVIRONMENTS, Entry
from benchmarks.peers.remote import NotInstalledError, RemoteTool, ToolFailedError, ToolHangsError, running

NAMED = {entry.name: entry for entry in ENTRIES}
ASYNCIO = NAMED["floor: asyncio subprocess"]
NACRE = NAMED["nacre, warden"]

_seconds = itertools.count(88_000_001)


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[Callable[[Entry], RemoteTool]]:
    tools: list[RemoteTool] = []

    def make(entry: Entry) -> RemoteTool:
        tools.append(RemoteTool(entry, tmp_path / "work"))
        return tools[-1]

    yield make
    for tool in tools:
        tool.stop()


def batch(tool: RemoteTool, script: str, expected: str) -> dict[str, list[float]]:
    return tool.ask("batch", limit=30, script=script, expected=expected, timeout=20, count=4, budget=100.0, pause=0.0)


def test_a_worker_times_every_call(remote: Callable[[Entry], RemoteTool]) -> None:
    times = batch(remote(ASYNCIO), "sleep 0.01; echo hello", "hello")["times"]

    assert len(times) == 4
    assert min(times) >= 0.01


def test_an_answer_without_the_output_is_a_failure(remote: Callable[[Entry], RemoteTool]) -> None:
    with pytest.raises(ToolFailedError, match="'hello' is not in"):
        batch(remote(ASYNCIO), "echo goodbye", "hello")


def test_a_tool_that_hangs_is_ended_with_what_it_started_and_works_again(
    remote: Callable[[Entry], RemoteTool],
) -> None:
    tool = remote(ASYNCIO)
    seconds = str(next(_seconds))
    tool.start()

    with pytest.raises(ToolHangsError):
        tool.ask("single", limit=1, script=f"setsid sleep {seconds} & sleep {seconds}", timeout=100)

    assert running(seconds) == []
    assert len(batch(tool, "echo hello", "hello")["times"]) == 4


def test_a_tool_that_is_not_installed_says_so(
    remote: Callable[[Entry], RemoteTool], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("benchmarks.peers.environments.HOME", tmp_path / "nothing")

    with pytest.raises(NotInstalledError, match="make peers"):
        remote(NAMED["pexpect replwrap"]).start()


def test_every_environment_of_the_catalogue_is_described() -> None:
    assert {entry.environment for entry in ENTRIES if entry.environment} == set(ENVIRONMENTS)


def test_a_case_is_judged_by_what_the_caller_sees(remote: Callable[[Entry], RemoteTool]) -> None:
    lost = next(case for case in robustness.CASES if case.title == "timeout: output kept")

    assert robustness.judge(remote(ASYNCIO), lost) == Judged(ok=False, note="output before the limit lost")
    assert robustness.judge(remote(NACRE), lost) == Judged(ok=True, note="")


def test_a_failure_is_a_row_and_a_bar_like_any_other(tmp_path: Path) -> None:
    floor, failing = Measured(times=[0.001, 0.002, 0.003]), Measured(failure="no <answer> in 5 s")
    results = Results(
        machine="a machine",
        options="some rounds",
        versions={entry.name: "1" for entry in ENTRIES},
        absent={"openhands tmux": "not installed"},
        workloads={
            "true_paced": {workloads.SPAWN: floor, ASYNCIO.name: failing, NACRE.name: Measured(times=[0.001])},
            "startup": {startup.FLOOR: Measured(times=[0.1]), startup.CLI: Measured(times=[0.25])},
            "at_once_500": {ASYNCIO.name: failing, NACRE.name: Measured(times=[1.0])},
        },
        runner_kilobytes=[1100, 1100],
        late_seconds={"nacre.run, runner stopped": [0.2, 1.5]},
        robustness={NACRE.name: {case.title: Judged(ok=True, note="") for case in robustness.CASES}},
    )

    text, picture = report.render(results), plot.render(results)

    assert "| floor: asyncio subprocess | floor | 0 |  |  |  | **fails**: no <answer> in 5 s |" in text
    assert "| **nacre, warden** | one-shot | 1 | 1.000 ms | 1.000 ms | 0.50 |  |" in text
    assert "- openhands tmux: not installed" in text
    assert "| `true`, 5 ms between calls | nacre, warden | ≤ 1.5 | 0.50 | met |" in text
    assert "| nacre, warden | ≤ 1.5 |  | the floor fails |" in text
    assert f"| a process of its own, from start to exit | {startup.CLI} | ≤ 2 | 2.50 | **missed** |" in text
    assert (
        "| private memory of a job's runner | 2 jobs of the workspace tool | ≤ 1024 KB | 1100 KB | **missed** |" in text
    )
    assert "| answer after timeout + grace | nacre.run, runner stopped | ≤ 1 s | 1.50 s | **missed** |" in text
    drawn = "".join(ElementTree.fromstring(picture).itertext())
    assert "fails: no <answer> in 5 s" in drawn
    results.save(tmp_path / "run.json")
    assert load(tmp_path / "run.json") == results


def test_every_target_names_a_workload_and_a_tool_that_are_measured() -> None:
    tools = {entry.name for entry in ENTRIES} | {startup.CLI}
    assert [target for target in report.TARGETS if target.tool not in tools] == []
    assert [target for target in report.TARGETS if target.workload not in workloads.FLOORS] == []


def test_no_call_walks_through_more_functions_or_files_than_its_limit(tmp_path: Path) -> None:
    # A program of its own: what other tests loaded and left in caches changes the walk.
    counted = subprocess.run(
        [sys.executable, "-m", "benchmarks.walk"],
        cwd=walk.__file__.removesuffix("/benchmarks/walk.py"),
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert counted.returncode == 0, counted.stdout + counted.stderr
