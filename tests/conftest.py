"""What every test gets: a state directory of its own, and proof that it leaves nothing behind."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import select
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre import forks
from nacre.backends.spare_shells import spares
from nacre.engine.engine import forget_engines
from nacre.warden import children
from nacre.warden_client.pool import warden

PR_SET_CHILD_SUBREAPER = 36
# How long what a test has ended may take to be gone.
PATIENCE_SECONDS = 15.0


def pytest_configure() -> None:
    # Orphans of anything that a test starts become children of this process, where they can be seen.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # Under nohup or in the background of a script these are ignored, and whatever a test starts would inherit that.
    for number, handler in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGQUIT, signal.SIG_DFL),
        (signal.SIGHUP, signal.SIG_DFL),
    ):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
    # The environments of the frameworks do without it.
    if importlib.util.find_spec("hypothesis") is not None:
        _take_time()


def _take_time() -> None:
    """Properties hold or not; how long a busy machine takes to try an example says nothing."""
    from hypothesis import HealthCheck, settings

    # The same examples each time, so that no run fails by luck; `make fuzz` looks for new ones.
    settings.register_profile(
        "unhurried",
        deadline=None,
        derandomize="NACRE_TEST_EXPLORE" not in os.environ,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("unhurried")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A private state directory; no setting of the machine reaches a test."""
    for name in list(os.environ):
        # A make that is started by a test must not take itself for a part of the one that runs the tests.
        if name.startswith(("NACRE_", "XDG_")) or name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
            monkeypatch.delenv(name)
    state = tmp_path / "nacre-home"
    monkeypatch.setenv("NACRE_HOME", str(state))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    # The rc of the user who runs the tests is not read either: here by its name, in programs of a test by the setting.
    monkeypatch.setattr("nacre.sessions.rc_file.RC_NAME", ".bashrc-of-a-test")
    monkeypatch.setenv("NACRE_SNAPSHOT", "false")
    return state


@pytest.fixture(autouse=True)
def no_leaks(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """After each test no process, descriptor or temporary file remains."""
    scratch = tmp_path / "tmpdir"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    before = _descriptors()
    yield
    spares.close()
    forks.close()
    warden.close()
    forget_engines()
    left = _wait_for_no_children()
    for pid in left:
        os.kill(pid, 9)
    assert not left, f"processes outlived the test: {left}"
    assert _descriptors() - before == set(), "descriptors outlived the test"
    assert list(scratch.iterdir()) == [], "temporary files outlived the test"


def _descriptors() -> set[tuple[str, str]]:
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            found.add((name, os.readlink(f"/proc/self/fd/{name}")))
        except FileNotFoundError:
            continue
    return found


def _wait_for_no_children() -> dict[int, list[str]]:
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        _, left = children.reap()
        alive = {pid: children.command_line(pid) for pid in children.descendants(os.getpid())}
        if not left or not alive or time.monotonic() > end:
            return alive
        _pause(alive)


def _pause(alive: dict[int, list[str]]) -> None:
    """Until any of these ends, or a moment has passed."""
    handles = []
    for pid in alive:
        try:
            handles.append(os.pidfd_open(pid))
        except ProcessLookupError:
            continue
    if handles:
        select.select(handles, [], [], 0.2)
    for handle in handles:
        os.close(handle)
