"""Every call has its end in the log, once: jobs too, whatever became of the program that started them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from nacre import Tool, audit
from nacre.errors import NacreError
from nacre.jobs.polling import poll
from nacre.jobs.table import JobTable
from nacre.settings import JobSettings, PolicySettings, Settings
from nacre.warden import record

PATIENCE_SECONDS = 30.0
QUICK = Settings(jobs=JobSettings(auto_background_seconds=0.2))


def entries(home: Path, **wanted: Any) -> list[dict[str, Any]]:
    """The entries that have these facts."""
    return [entry for entry in audit.entries(home) if wanted.items() <= entry.items()]


async def end_of(home: Path, job_id: str) -> dict[str, Any]:
    """The one line about a job's end."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (found := entries(home, jobId=job_id, event="end")):
            await poll(JobTable(home), [job_id], wait=0.05)
    (entry,) = found
    return entry


async def started(tool: Tool, command: str, **arguments: Any) -> str:
    reply = await tool.call({"command": command, "async": True, **arguments})
    assert not reply.is_error, reply.text
    return str(reply.details["async"]["jobId"])


async def test_the_end_of_a_job_is_logged_with_its_outcome_and_sizes(home: Path, tmp_path: Path) -> None:
    async with Tool("workspace", cwd=tmp_path) as tool:
        job_id = await started(tool, "sleep 0.1; echo twelve bytes; exit 3")
        entry = await end_of(home, job_id)
    (start,) = entries(home, jobId=job_id, outcome="background")
    assert entry.pop("time") >= start["time"]
    assert entry.pop("durationMs") >= 100
    assert entry.pop("startedAt") > 0
    assert entry.pop("call") == start["call"]
    assert entry == {
        "contract": "workspace",
        "command": "sleep 0.1; echo twelve bytes; exit 3",
        "cwd": str(tmp_path),
        "outcome": "exited",
        "exitCode": 3,
        "stdoutBytes": 13,
        "stderrBytes": None,
        "event": "end",
        "jobId": job_id,
    }


@pytest.mark.parametrize(
    ("command", "arguments", "outcome", "code"),
    [
        ("sleep 0.05; kill -9 $$", {}, "signalled", 137),
        ("sleep 1000", {"timeout": 1}, "timedOut", None),
        ("sleep 1000", {}, "stopped", None),
    ],
    ids=["signal", "limit", "stopped"],
)
async def test_each_way_a_job_ends_has_its_word(
    home: Path, tmp_path: Path, command: str, arguments: dict[str, Any], outcome: str, code: int | None
) -> None:
    async with Tool("workspace", cwd=tmp_path) as tool:
        job_id = await started(tool, command, **arguments)
        if outcome == "stopped":
            JobTable(home).stop(job_id)
        entry = await end_of(home, job_id)
    assert (entry["outcome"], entry["exitCode"]) == (outcome, code)


async def test_a_command_that_moved_to_the_background_has_its_end_too(home: Path, tmp_path: Path) -> None:
    async with Tool("workspace", cwd=tmp_path, settings=QUICK) as tool:
        reply = await tool.call({"command": "echo before; sleep 0.5; echo after; exit 4"})
        entry = await end_of(home, reply.details["async"]["jobId"])
    assert (entry["outcome"], entry["exitCode"], entry["stdoutBytes"]) == ("exited", 4, 13)


async def test_a_job_whose_program_is_gone_has_its_end_without_any_other_nacre(home: Path, tmp_path: Path) -> None:
    command = "until [ -e go ]; do sleep 0.01; done; exit 5"
    call = [sys.executable, "-m", "nacre", "call", "modes", json.dumps({"command": command, "mode": "background"})]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, check=True)
    job_id = json.loads(done.stdout)["details"]["jobId"]
    (tmp_path / "go").touch()
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (found := entries(home, jobId=job_id, event="end")):
            await asyncio.sleep(0.01)
    assert [entry["exitCode"] for entry in found] == [5]


async def test_the_end_of_a_lost_job_is_logged_once_however_many_nacres_see_it(home: Path, tmp_path: Path) -> None:
    async with Tool("workspace", cwd=tmp_path) as tool:
        job_id = await started(tool, "sleep 1000")
        facts = JobTable(home).get(job_id).record
        os.kill(facts["runnerPid"], signal.SIGKILL)
        # The command may have died with its runner.
        with contextlib.suppress(ProcessLookupError):
            os.kill(facts["pid"], signal.SIGKILL)
        script = f"from nacre.jobs.table import JobTable\nfor _ in range(20): JobTable({str(home)!r}).list()"
        readers = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(4)]
        entry = await end_of(home, job_id)
        assert [reader.wait(PATIENCE_SECONDS) for reader in readers] == [0] * 4
    assert (entry["outcome"], entry["exitCode"]) == ("lost", None)
    assert entry["error"].startswith("lost: its runner was killed")
    assert len(entries(home, jobId=job_id, event="end")) == 1


def test_an_end_that_was_logged_just_before_the_runner_died_is_not_logged_again(home: Path) -> None:
    table = JobTable(home)
    for logged in (True, False):
        job_id, directory = table.allot()
        facts = {"id": job_id, "version": record.VERSION, "state": "exited", "exitCode": 3, "startedAt": 1.5}
        record.write(str(directory), facts)
        if logged:
            audit.append_line(home, record.end_entry(facts))
    for _ in range(2):
        table.list()
    assert Counter(entry["jobId"] for entry in audit.entries(home)) == {"bg_1": 1, "bg_2": 1}


# Calls that came to nothing.


async def test_a_refused_a_denied_and_an_intercepted_call_are_in_the_log_once(home: Path, tmp_path: Path) -> None:
    settings = Settings(policy=PolicySettings(interceptor=True))
    async with Tool("workspace", cwd=tmp_path, settings=settings, tools=["read", "grep", "glob"]) as tool:
        await tool.call({"command": "echo hi", "speed": 3})
        await tool.call({"command": "cat notes.txt"})
        await tool.call({"command": "rm -rf /"})
        await tool.call({"command": "true", "cwd": str(tmp_path / "none")})
        await tool.call({"command": "true", "env": {"not a name": "x"}})
        await tool.call({"command": 7})
        await tool.call("echo")
    found = [(entry["command"], entry["outcome"], entry.get("rule")) for entry in audit.entries(home)]
    assert found == [
        ("echo hi", "notStarted", None),
        ("cat notes.txt", "denied", "interceptor"),
        ("rm -rf /", "denied", "no_dangerous_rm"),
        ("true", "notStarted", None),
        ("true", "notStarted", None),
        ("7", "notStarted", None),
        ("", "notStarted", None),
    ]
    assert all(entry["contract"] == "workspace" and entry["cwd"] for entry in audit.entries(home))


@pytest.mark.parametrize("contract", ["basic", "modes", "anthropic", "openai"])
async def test_a_refused_call_of_each_contract_is_in_the_log(home: Path, tmp_path: Path, contract: str) -> None:
    async with Tool(contract, cwd=tmp_path) as tool:
        await tool.call({"command": "", "commands": [""], "nonsense": 1})
    (entry,) = audit.entries(home)
    assert (entry["contract"], entry["outcome"]) == (contract, "notStarted")


async def test_no_secret_of_a_refused_call_is_in_the_log(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", "correct-horse-battery")
    async with Tool("workspace", cwd=tmp_path) as tool:
        await tool.call({"command": "curl -H correct-horse-battery", "correct-horse-battery": 1})
    assert "correct-horse" not in (home / audit.NAME).read_text(encoding="utf-8")
    assert len(entries(home, outcome="notStarted")) == 1


async def test_a_call_that_is_cancelled_before_its_turn_is_in_the_log(home: Path, tmp_path: Path) -> None:
    async with Tool("workspace", cwd=tmp_path) as tool:
        first = asyncio.create_task(tool.call({"command": "until [ -e go ]; do sleep 0.01; done"}))
        second = asyncio.create_task(tool.call({"command": "echo second"}))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait([second])
        assert second.cancelled()
        (tmp_path / "go").touch()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await first
    assert [entry["outcome"] for entry in entries(home, command="echo second")] == ["stopped"]


async def test_a_job_whose_start_is_cancelled_is_in_the_log(home: Path, tmp_path: Path) -> None:
    async with Tool("workspace", cwd=tmp_path) as tool:
        call = asyncio.create_task(tool.call({"command": "sleep 1000", "async": True}))
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not (home / "jobs" / "bg_1").exists():
                await asyncio.sleep(0)
        call.cancel()
        await asyncio.wait([call])
        with pytest.raises(asyncio.CancelledError):
            await call
        found = [entry["outcome"] for entry in entries(home, command="sleep 1000") if "event" not in entry]
        assert found == ["stopped"]
        await _gone(home)


async def _gone(home: Path) -> None:
    """Wait until no job runs."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while any(job.running for job in JobTable(home).list().jobs):
            await asyncio.sleep(0.01)


def test_an_error_that_passes_several_frames_is_one_entry(home: Path) -> None:
    """What the engine has logged, a tool does not log again."""
    from nacre.engine.engine import Engine

    engine = Engine(Settings(), str(home))
    error = NacreError("no")
    for _ in range(3):
        engine.log.add_refusal("workspace", "true", "/", error)
    engine.close()
    assert len(list(audit.entries(home))) == 1


# Reading.


def test_an_entry_behind_one_that_a_full_disk_cut_is_read(home: Path) -> None:
    home.mkdir()
    cut = b'{"time":1,"command":"cut \\"{\\"time\\":'
    (home / audit.NAME).write_bytes(cut + b'{"time":2,"command":"whole"}\n{"time":3,"command":"next"}\n')
    assert [entry["command"] for entry in audit.entries(home)] == ["whole", "next"]


def test_lines_of_earlier_versions_are_read(home: Path) -> None:
    home.mkdir()
    old = {"time": 0.0, "contract": "basic", "command": "sleep 9", "cwd": "/", "outcome": "timedout", "exitCode": None}
    (home / audit.NAME).write_text(json.dumps(old) + "\n", encoding="ascii")
    assert list(audit.entries(home)) == [old]
    listing = [sys.executable, "-m", "nacre", "log"]
    done = subprocess.run(listing, capture_output=True, text=True, check=True)
    assert "timed out" in done.stdout
