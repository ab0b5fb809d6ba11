"""Fixtures of the fault tests."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from outside import PLAIN_USER, with_argument

from nacre.warden import children


@pytest.fixture
def sleeper() -> Iterator[str]:
    """A duration that no other process on this machine sleeps: `sleep {sleeper}` is found again by its argument."""
    duration = f"100.{int.from_bytes(os.urandom(6), 'big')}"
    yield duration
    left = with_argument(duration)
    for pid in left:
        os.kill(pid, 9)
    assert not left, f"sleepers outlived the test: {left}"


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A runner that has to end a command on a busy machine is not given up."""
    monkeypatch.setattr("nacre.engine.run.WATCHDOG_SECONDS", 20.0)


@pytest.fixture
def nothing_started() -> Iterator[None]:
    """The test starts no process at all, not even nacre's own."""
    yield
    assert children.descendants(os.getpid()) == []


@pytest.fixture
def plain_home() -> Iterator[Path]:
    """A directory that belongs to the plain user; pytest's own are closed to others."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user; the tests as the present user run anyway")
    path = Path(tempfile.mkdtemp(prefix="nacre-plain-", dir="/tmp"))
    os.chown(path, PLAIN_USER, PLAIN_USER)
    yield path
    shutil.rmtree(path)
