"""Every way in keeps the same promises: one table of entry points and faults.

A cell plays a fault on a way in and compares what the caller reads, and what the log keeps, with the one expectation of
the fault. Cells that cannot apply are listed with the reason.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import nacre.acp.provider
from nacre import audit
from nacre.contracts import modes
from nacre.contracts.anthropic_bash import Anthropic
from nacre.contracts.basic import Basic
from nacre.jobs.table import JobTable
from nacre.tool import Tool
from nacre.warden import children
from surfaces import ways, wires
from surfaces.fault_table import FAULTS, SIZES, SLEEP_SECONDS, Expectation, Fault, Place, Seen, told
from surfaces.ways import PATIENCE_SECONDS, Way

WAYS: dict[str, Way] = {
    "nacre.run": Way(play=ways.run, contract="run"),
    "nacre.run_sync": Way(play=ways.run_sync, contract="run", in_child=True),
    "nacre.Session": Way(play=ways.session, contract="session"),
    **{
        name: Way(play=ways.tool(name), contract=name)
        for name in ("basic", "modes", "workspace", "anthropic", "openai")
    },
    "modes background": Way(play=ways.job("modes", mode="background"), contract="modes", wants_job=True),
    "workspace async": Way(play=ways.job("workspace", **{"async": True}), contract="workspace", wants_job=True),
    "workspace moved": Way(play=ways.moved, contract="workspace"),
    # A command on a terminal is a job from its first byte.
    "workspace pty": Way(play=ways.tool("workspace", ui=True, pty=True), contract="workspace", wants_job=True),
    "workspace try": Way(play=ways.tool("workspace", **{"try": True}), contract="workspace"),
    "acp terminal": Way(play=wires.client_terminal, contract="workspace"),
    "acp provider": Way(play=wires.terminal_provider, contract="terminal"),
    "mcp": Way(play=wires.mcp, contract="workspace", in_child=True),
    "rpc": Way(play=wires.rpc, contract="workspace", in_child=True),
}

# Where the size of the output is not that of what the command wrote: a client counts it, a terminal adds returns.
INEXACT = ("acp terminal", "workspace pty")
NO_JOB = "no call of this way becomes a job"
OWN_FILE = "the output of a job is in the job's own file, not in an artifact"
PROGRAM = "an agent gives a program and its arguments, not a script: a pipe is within the program"
CLIENT = "the client runs the command: no warden of ours, no survivors and no stage codes can be seen (D14)"

# Cells that cannot apply, with the reason.
NOT_APPLICABLE: dict[tuple[str, str], str] = {
    **{
        (way, "no room for a job"): NO_JOB
        for way in (
            *("nacre.run", "nacre.run_sync", "nacre.Session", "basic", "modes", "workspace", "anthropic", "openai"),
            *("acp terminal", "acp provider"),
        )
    },
    **{
        (way, "artifact cannot be written"): OWN_FILE
        for way in ("modes background", "workspace async", "workspace moved")
    },
    ("workspace pty", "survivors"): "the end of a terminal hangs up what its shell left on it",
    **{
        ("workspace try", fault): "a try that cannot have an overlay is refused: it must not run on the workspace"
        for fault in ("warden cannot be executed", "warden ends at once")
    },
    ("workspace try", "no room for a job"): NO_JOB,
    ("workspace try", "cancelled"): "the file by which its caller knows that it runs is on the overlay",
    ("acp provider", "hidden pipe failure"): PROGRAM,
    ("acp provider", "survivors"): "what a command left running ends with its terminal, before the call is logged",
    **{
        ("acp terminal", fault): CLIENT
        for fault in ("warden cannot be executed", "warden ends at once", "survivors", "hidden pipe failure")
    },
}


def cells() -> list[Any]:
    return [
        pytest.param(way, fault, id=f"{way}-{fault}")
        for way in WAYS
        for fault in FAULTS
        if (way, fault) not in NOT_APPLICABLE
    ]


@pytest.fixture
async def place(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setenv("NACRE_GRACE_SECONDS", "1")
    cwd = tmp_path / "work"
    cwd.mkdir()
    yield Place(cwd, home)
    await stop_jobs(home)
    for pid in children.descendants(os.getpid()):
        if children.command_line(pid) == ["sleep", str(SLEEP_SECONDS)]:
            os.kill(pid, signal.SIGKILL)


async def stop_jobs(home: Path) -> None:
    """End what a cell left running on purpose."""
    table = JobTable(home)
    for job in table.list().jobs:
        if job.running:
            table.stop(job.id)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while any(job.running for job in table.list().jobs):
            await asyncio.sleep(0.01)


def shorten_limits(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Give contracts whose calls name no timeout a short one of their own."""
    for contract in (Basic, modes.Modes, Anthropic):
        monkeypatch.setattr(contract, "profile", replace(contract.profile, timeout=seconds))
    for mode in modes.TIMEOUTS:
        monkeypatch.setitem(modes.TIMEOUTS, mode, seconds)
    provider = nacre.acp.provider
    monkeypatch.setattr(provider, "PROFILE", replace(provider.PROFILE, timeout=seconds))


@pytest.mark.parametrize(("way", "fault"), cells())
async def test_entry_point(way: str, fault: str, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    entry, row = WAYS[way], FAULTS[fault]
    if row.timeout is not None:
        shorten_limits(monkeypatch, row.timeout)
    if way == "workspace moved":
        monkeypatch.setenv("NACRE_AUTO_BACKGROUND_SECONDS", "0.1")
    if row.wants_job:
        await take_the_room(place, monkeypatch)
    if (warden := place.prepare(row)) is not None and not entry.in_child:
        monkeypatch.setattr(sys, "executable", warden)
    wants_job = entry.wants_job or (row.wants_job and way in ("mcp", "rpc"))
    expected = row.expects_job if wants_job and row.expects_job is not None else row.expects
    async with asyncio.timeout(PATIENCE_SECONDS):
        seen = await entry.play(place, row)
        logged = await logged_end(place, seen, row)
    assert_answer(seen, expected)
    assert_logged(logged, expected, contract=entry.contract, exact=way not in INEXACT)


async def take_the_room(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have as many jobs run as may."""
    async with Tool("workspace", cwd=place.cwd) as tool:
        assert not (await tool.call({"command": "sleep 1000", "async": True})).is_error
    monkeypatch.setenv("NACRE_MAX_JOBS", "1")


async def logged_end(place: Place, seen: Seen, fault: Fault) -> dict[str, Any]:
    """The one entry of the log about the end of the call, or of the job that it became."""
    while True:
        found = [
            entry
            for entry in audit.entries(place.home)
            if entry["outcome"] != "background"
            and entry["command"].endswith((fault.command, shlex.quote(fault.command)))
            and entry.get("jobId") == seen.job_id
        ]
        # The entry of a call is written before its answer; only the end of a job comes when it comes.
        if found or not (seen.job_id or fault.cancels):
            (entry,) = found
            return entry
        await asyncio.sleep(0.01)


def assert_answer(seen: Seen, expected: Expectation) -> None:
    assert (seen.outcome, seen.exit_code, seen.is_error) == (expected.outcome, expected.exit_code, expected.is_error)
    if expected.notice is not None and seen.notices is not None:
        assert told(expected.notice, seen.notices), seen.notices
    if seen.details is not None:
        details = dict(seen.details)
        if "survivors" in details:
            details["survivors"] = [one["argv"] for one in details["survivors"]]
        assert expected.details.items() <= details.items()


def assert_logged(entry: dict[str, Any], expected: Expectation, *, contract: str, exact: bool) -> None:
    assert (entry["contract"], entry["outcome"]) == (contract, expected.outcome)
    assert entry.get("exitCode") == expected.exit_code
    assert set(expected.logged) <= entry.keys()
    if SIZES[0] in expected.logged and exact and expected.output_bytes is not None:
        assert entry["stdoutBytes"] == expected.output_bytes
    if expected.notice is not None:
        notices = (entry["error"],) if expected.outcome == "notStarted" else tuple(entry.get("notices", ()))
        assert told(expected.notice, notices), notices


def test_every_cell_is_played_or_has_its_reason() -> None:
    """No stale entry in the list of reasons."""
    every = {(way, fault) for way in WAYS for fault in FAULTS}
    assert NOT_APPLICABLE.keys() <= every
    assert all(NOT_APPLICABLE.values())
