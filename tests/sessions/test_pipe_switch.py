"""The name of a new pipe exists only until the shell has opened it, and nothing is left of a switch that failed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nacre.sessions import pipe_switch
from nacre.sessions.pipe_switch import PipeSwitch


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "memory"
    path.mkdir()
    monkeypatch.setattr(pipe_switch, "_MEMORY", str(path))
    return path


def test_a_cancelled_switch_leaves_nothing(directory: Path) -> None:
    before = set(os.listdir("/proc/self/fd"))
    switch = PipeSwitch()
    assert Path(switch.path).is_fifo()
    assert Path(switch.path).parent.stat().st_mode & 0o777 == 0o700
    switch.cancel()
    assert list(directory.iterdir()) == []
    assert set(os.listdir("/proc/self/fd")) == before


def test_a_name_that_a_command_removed_is_no_error(directory: Path) -> None:
    switch = PipeSwitch()
    os.unlink(switch.path)
    os.rmdir(os.path.dirname(switch.path))
    switch.cancel()
    assert list(directory.iterdir()) == []
