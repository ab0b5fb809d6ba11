"""The control group of a command: found by the mounts of both versions, made, entered, counted and removed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nacre.warden import control_group
from nacre.warden.control_group import MEMORY, PROCESSES, PROCESSOR, ControlGroup

MIB = 1024 * 1024


def lay_out(root: Path, monkeypatch: pytest.MonkeyPatch, mounts: str, own: str) -> None:
    """Files in the place of those that the kernel shows."""
    (root / "mountinfo").write_text(mounts.replace("ROOT", str(root)), encoding="utf-8")
    (root / "own").write_text(own, encoding="utf-8")
    monkeypatch.setattr(control_group, "_MOUNTS", str(root / "mountinfo"))
    monkeypatch.setattr(control_group, "_OWN", str(root / "own"))


def directory(root: Path, path: str, *, enabled: str | None = None) -> Path:
    found = root / path
    found.mkdir(parents=True, exist_ok=True)
    if enabled is not None:
        (found / "cgroup.subtree_control").write_text(enabled, encoding="ascii")
    return found


def test_version_1_is_found_by_controller_below_the_root_of_its_mount(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out(
        tmp_path,
        monkeypatch,
        "30 23 0:26 /docker/abc ROOT/memory rw - cgroup cgroup rw,memory\n"
        "31 23 0:27 / ROOT/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
        "32 23 0:28 / ROOT/unified rw - cgroup2 cgroup2 rw\n",
        "4:memory:/docker/abc/child\n2:cpu,cpuacct:/\n0::/\n",
    )
    directory(tmp_path, "unified", enabled="")
    assert control_group._parents(MEMORY) == [(str(tmp_path / "memory/child"), False)]
    assert control_group._parents(PROCESSOR) == [(str(tmp_path / "cpu,cpuacct"), False)]
    assert control_group._parents(PROCESSES) == []


def test_version_2_takes_the_nearest_group_that_gives_its_controllers_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out(
        tmp_path,
        monkeypatch,
        "32 23 0:28 / ROOT/cgroup rw - cgroup2 cgroup2 rw\n",
        "0::/user.slice/app.slice/shell.scope\n",
    )
    directory(tmp_path, "cgroup/user.slice/app.slice", enabled="cpu memory pids")
    directory(tmp_path, "cgroup/user.slice/app.slice/shell.scope", enabled="")
    parent = str(tmp_path / "cgroup/user.slice/app.slice")
    assert control_group._parents(MEMORY) == [(parent, True)]
    assert control_group._parents(PROCESSOR) == [(f"{parent}/shell.scope", True), (parent, True)]


def test_version_2_writes_and_reads_its_own_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_out(tmp_path, monkeypatch, "32 23 0:28 / ROOT/cgroup rw - cgroup2 cgroup2 rw\n", "0::/app/shell\n")
    parent = directory(tmp_path, "cgroup/app", enabled="memory pids")
    group = ControlGroup(os.getpid())
    # The kernel makes these files with the directory.
    made = parent / group._name
    made.mkdir()
    for name, content in (
        ("memory.max", "max"),
        ("memory.swap.max", "max"),
        ("pids.max", "max"),
        ("cgroup.procs", ""),
        ("memory.events", "low 0\noom 3\noom_kill 2\n"),
        ("pids.events", "max 7\n"),
    ):
        (made / name).write_text(content, encoding="ascii")
    group.make({"memory": MIB, "processes": 30})
    group.enter()
    assert group.covers == [MEMORY, PROCESSES]
    # A file of the kernel takes what is written as a whole; in a plain one the rest of the old content stays.
    limits = [(made / name).read_text(encoding="ascii") for name in ("memory.max", "memory.swap.max", "pids.max")]
    assert limits == ["1048576", "0ax", "30x"]
    assert (made / "cgroup.procs").read_text(encoding="ascii") == "0"
    assert (group.memory_kills(), group.refused_forks()) == (2, 7)


def test_no_group_is_claimed_where_none_can_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_out(tmp_path, monkeypatch, "32 23 0:28 / ROOT/cgroup rw - cgroup2 cgroup2 rw\n", "0::/\n")
    directory(tmp_path, "cgroup", enabled="")
    group = ControlGroup(os.getpid())
    group.make({"memory": MIB, "processes": 30})
    assert group.covers == []
    group.enter()
    group.remove()


@pytest.fixture
def real() -> ControlGroup:
    group = ControlGroup(os.getpid())
    group.make({"memory": 64 * MIB, "processes": 30, "cpu": 5.0})
    if group.covers != [PROCESSOR, MEMORY, PROCESSES]:
        group.remove()
        pytest.skip("needs root and control groups that it may make")
    return group


def test_a_real_group_counts_what_is_in_it_and_is_removed(real: ControlGroup) -> None:
    entered = (
        "import sys; from nacre.warden.control_group import ControlGroup\n"
        "group = ControlGroup(int(sys.argv[1])); assert group.covers; group.enter()\n"
        "import os; print(open('/proc/self/cgroup').read())\n"
        "end = os.times().user + 0.05\n"
        "while os.times().user < end: pass\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", entered, str(os.getpid())], capture_output=True, text=True, check=True
    ).stdout
    assert said.count(f"nacre-{os.getpid()}-") == 3
    assert real.cpu_seconds() >= 0.05
    assert (real.memory_kills(), real.refused_forks()) == (0, 0)
    real.remove()
    assert ControlGroup(os.getpid()).covers == []


def test_the_group_of_a_runner_that_was_killed_is_removed_by_the_next(real: ControlGroup) -> None:
    (parent, _), *_ = control_group._parents(PROCESSES)
    left = Path(parent) / "nacre-1-12345"
    left.mkdir()
    real.make({"processes": 30})
    assert not left.exists()
    real.remove()


@pytest.fixture
def real_version_2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The groups of version 2 alone, of a machine that may have both: the kernel's own files.

    A controller that version 1 has is not in version 2, on the whole machine; processor time is counted without one.
    """
    lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    own = tmp_path / "own"
    own.write_text("".join(f"{line}\n" for line in lines if line.startswith("0::")), encoding="utf-8")
    monkeypatch.setattr(control_group, "_OWN", str(own))
    group = ControlGroup(os.getpid())
    group.make({"cpu": 5.0})
    covers = group.covers
    group.remove()
    if covers != [PROCESSOR]:
        pytest.skip("needs root and control groups of version 2 that it may make")
    return own


def test_a_real_group_of_version_2_is_made_entered_counted_and_removed(real_version_2: Path) -> None:
    group = ControlGroup(os.getpid())
    group.make({"cpu": 5.0})
    place = group._places[PROCESSOR]
    assert place.unified
    assert (Path(place.directory) / "cgroup.kill").exists()
    entered = (
        "import os, sys; from nacre.warden import control_group\n"
        "control_group._OWN = sys.argv[2]\n"
        "group = control_group.ControlGroup(int(sys.argv[1])); assert group.covers == ['cpuacct']; group.enter()\n"
        "print(open('/proc/self/cgroup').read())\n"
        "end = os.times().user + 0.05\n"
        "while os.times().user < end: pass\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", entered, str(os.getpid()), str(real_version_2)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert f"/nacre-{os.getpid()}-" in next(line for line in said.splitlines() if line.startswith("0::"))
    assert group.cpu_seconds() >= 0.05
    group.remove()
    assert not os.path.exists(place.directory)


def test_a_limit_whose_controller_version_2_does_not_have_is_not_claimed(real_version_2: Path) -> None:
    assert real_version_2.exists()
    (parent, unified), *_ = control_group._parents(PROCESSOR)
    assert unified
    enabled = (Path(parent) / "cgroup.subtree_control").read_text(encoding="ascii").split()
    group = ControlGroup(os.getpid())
    group.make({"memory": 64 * MIB, "processes": 30})
    assert group.covers == sorted({MEMORY, PROCESSES} & set(enabled))
    group.remove()
