"""Cases 69 to 83: jobs, and the nacre that started them. 70, 73, 79 and 82 are in test_restart."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from outside import Program, alive, eventually, nacre

from nacre import Tool
from nacre.jobs.job import Job
from nacre.jobs.notices import completions
from nacre.jobs.table import JobTable
from nacre.settings import JobSettings, Settings
from nacre.warden import children, record

MIB = 1024 * 1024
WAIT = "until [ -e go ]; do sleep 0.01; done"


@pytest.fixture(autouse=True)
def all_ended(home: Path) -> Iterator[None]:
    """Whatever runs at the end of a test is stopped."""
    yield
    table = JobTable(home)
    for job in table.list().jobs:
        if job.running and job.note is None:
            table.stop(job.id)
            ended(home, job.id)


def ended(home: Path, job_id: str = "bg_1") -> Job:
    def final() -> Job | None:
        job = JobTable(home).get(job_id)
        return None if job.running else job

    return eventually(final, f"the end of {job_id}")


def workspace(tmp_path: Path, **jobs: Any) -> Tool:
    return Tool("workspace", cwd=tmp_path, settings=Settings(jobs=JobSettings(**jobs)))


async def start(command: str, tmp_path: Path, **arguments: Any) -> Job:
    tool = workspace(tmp_path)
    reply = await tool.call({"command": command, "async": True, **arguments})
    return tool.engine.jobs.get(reply.details["async"]["jobId"])


# 69: nacre is killed.

HOST = """
import asyncio, json, sys
import nacre
from nacre.settings import JobSettings, Settings

async def main(cwd, command):
    settings = Settings(jobs=JobSettings(auto_background_seconds=0.3))
    async with nacre.Tool("workspace", cwd=cwd, settings=settings) as tool:
        reply = await tool.call({"command": command})
        print(json.dumps(reply.details), flush=True)
        await asyncio.Event().wait()

asyncio.run(main(*sys.argv[1:]))
"""
# Tells every notice that it hears until the marker's.
LISTENER = """
import asyncio, json, sys
import nacre

async def main(cwd):
    async with nacre.Tool("workspace", cwd=cwd) as tool:
        await tool.call({"command": "sleep 0.1; echo marker", "async": True})
        async for notice in tool.notices():
            print(json.dumps([notice.job_id, notice.details["status"], notice.details.get("exitCode"), notice.text]))
            if notice.text.endswith("marker"):
                return

asyncio.run(main(*sys.argv[1:]))
"""


def heard(tmp_path: Path) -> list[list[Any]]:
    """What a new nacre on this state directory is told."""
    return [json.loads(line) for line in Program(LISTENER, str(tmp_path)).succeed().splitlines()]


@pytest.mark.parametrize("when", ["while it runs", "after its end"])
def test_case_69_command_that_became_a_job_outlives_the_kill_of_nacre_and_is_told_of_once(
    when: str, home: Path, tmp_path: Path
) -> None:
    host = Program(HOST, str(tmp_path), f"echo before; {WAIT}; echo after; exit 3")
    assert host.json()["async"]["jobId"] == "bg_1"
    if when == "while it runs":
        host.kill()
        assert JobTable(home).get("bg_1").running
        (tmp_path / "go").touch()
        ended(home)
    else:
        (tmp_path / "go").touch()
        ended(home)
        host.kill()
    job = ended(home)
    assert (job.state, job.record["exitCode"]) == ("exited", 3)
    assert job.output_file.read_text(encoding="ascii") == "before\nafter\n"
    first, second = heard(tmp_path), heard(tmp_path)
    assert [notice[:3] for notice in first] == [["bg_1", "failed", 3], ["bg_2", "completed", 0]]
    assert first[0][3].endswith("\nbefore\nafter")
    # The next one hears of its own marker only.
    assert [notice[:3] for notice in second] == [["bg_3", "completed", 0]]


def test_case_69_jobs_of_a_living_nacre_are_its_own_to_hear_of(home: Path, tmp_path: Path) -> None:
    with Program(HOST, str(tmp_path), f"{WAIT}; exit 3") as host:
        host.json()
        (tmp_path / "go").touch()
        ended(home)
        assert [notice[0] for notice in heard(tmp_path)] == ["bg_2"]
    assert [notice[0] for notice in heard(tmp_path)] == ["bg_1", "bg_3"]


# 71 and 72: what a new nacre finds.


def planted(home: Path, number: int, text: str) -> Path:
    directory = home / "jobs" / f"bg_{number}"
    directory.mkdir(parents=True)
    (directory / record.RECORD).write_text(text, encoding="utf-8")
    (directory / record.OUTPUT).write_text("output\n", encoding="utf-8")
    return directory


def facts(number: int, **more: Any) -> str:
    return json.dumps(
        {"id": f"bg_{number}", "version": record.VERSION, "state": "running", "command": "x", "startedAt": 0.0} | more
    )


async def test_case_71_strange_records_are_named_and_left_alone_and_the_others_are_listed(
    home: Path, tmp_path: Path
) -> None:
    await start(f"{WAIT}; exit 2", tmp_path)
    planted(home, 2, '{"id": "bg_2", "sta')
    planted(home, 3, facts(3, version=99))
    planted(home, 4, "[]")
    foreign = planted(home, 5, facts(5))
    if os.geteuid() == 0:
        os.chown(foreign / record.RECORD, 65534, 65534)
    planted(home, 6, facts(6, state="exited", exitCode=0, endedAt=time.time(), closed=True))
    (home / "jobs" / "bg_x").mkdir()
    listing = JobTable(home).list()
    assert [(job.id, job.state) for job in listing.jobs if job.id != "bg_5"] == [
        ("bg_1", "running"),
        ("bg_6", "exited"),
    ]
    assert [problem.partition(":")[0] for problem in listing.damaged if "bg_5" not in problem] == [
        "bg_2",
        "bg_3",
        "bg_4",
    ]
    reply = await Tool("job").call({"list": True})
    assert "[left alone: bg_3: its record has version 99, this nacre reads 1]" in reply.text
    # Nobody can say how they ended, and a new job passes over their numbers.
    assert (await start("sleep 100", tmp_path)).id == "bg_7"


@pytest.mark.parametrize(
    "wrong",
    [
        {"startedAt": None},
        {"startedAt": "now"},
        {"startedAt": float("inf")},
        {"endedAt": [1]},
        {"stages": 7},
        {"stages": ["x"]},
        {"pid": "1"},
        {"exitCode": 2**80},
        {"command": {"a": 1}},
        {"state": 3},
    ],
    ids=str,
)
async def test_case_71_a_record_with_a_value_that_is_none_is_named_and_left_alone(
    home: Path, wrong: dict[str, Any]
) -> None:
    """Fuzzing found it: a list of jobs failed on a record whose JSON was whole."""
    ended_record = {"state": "exited", "exitCode": 0, "endedAt": time.time(), "closed": True}
    planted(home, 1, facts(1, **(ended_record | wrong)))
    planted(home, 2, facts(2, **ended_record))
    listing = JobTable(home).list()
    assert [job.id for job in listing.jobs] == ["bg_2"]
    assert [problem.partition(":")[0] for problem in listing.damaged] == ["bg_1"]
    reply = await Tool("job").call({"list": True})
    assert f"[left alone: bg_1: its record has a {next(iter(wrong))} that is none]" in reply.text


def test_case_72_after_a_restart_of_the_machine_jobs_are_lost_and_no_pid_is_signalled(home: Path) -> None:
    with Program("print('up', flush=True); import signal; signal.pause()") as stranger:
        assert stranger.line() == "up"
        # The same pid and start time, but of another boot.
        identity = {"pid": stranger.pid, "pidStart": children.start_time(stranger.pid), "bootId": "another boot"}
        planted(home, 1, facts(1, **identity, runnerPid=stranger.pid, runnerStart=identity["pidStart"]))
        job = JobTable(home).stop("bg_1")
        assert (job.state, job.record["reason"]) == (
            "lost",
            "lost: the machine was restarted, its exit status is unknown",
        )
        assert alive(stranger.pid)


# 74: two at once.


def test_case_74_two_nacres_on_one_state_directory_do_not_disturb_each_other(home: Path, tmp_path: Path) -> None:
    places = [tmp_path / name for name in ("one", "two")]
    for place in places:
        place.mkdir()
    with (
        Program(HOST, str(places[0]), f"{WAIT}; echo one; exit 1") as one,
        Program(HOST, str(places[1]), f"{WAIT}; echo two; exit 2") as two,
    ):
        ids = [one.json()["async"]["jobId"], two.json()["async"]["jobId"]]
        assert sorted(ids) == ["bg_1", "bg_2"]
        one.kill()
        assert JobTable(home).get(ids[1]).running
        for place in places:
            (place / "go").touch()
        found = [ended(home, job_id) for job_id in ids]
    assert [(job.record["exitCode"], job.output_file.read_text(encoding="ascii")) for job in found] == [
        (1, "one\n"),
        (2, "two\n"),
    ]


# 75 to 77: the file.


@pytest.mark.parametrize("how", ["deleted", "emptied"])
async def test_case_75_output_that_somebody_takes_away_is_read_as_far_as_it_is_there(
    how: str, home: Path, tmp_path: Path
) -> None:
    job = await start(f"echo before; {WAIT}; echo after", tmp_path)
    tool = Tool("job")
    await tool.call({"poll": ["bg_1"], "until": {"regex": "before"}, "wait": 30})
    if how == "deleted":
        job.output_file.unlink()
    else:
        os.truncate(job.output_file, 0)
    (tmp_path / "go").touch()
    await asyncio.to_thread(ended, home)
    reply = await tool.call({"read": "bg_1"})
    beyond = await tool.call({"read": "bg_1", "offset": 10_000})
    assert (reply.is_error, beyond.is_error) == (False, False)
    words = "it was deleted" if how == "deleted" else "the output file was shortened"
    assert words in reply.text
    assert reply.text.startswith("(no output)\n" if how == "deleted" else "after\n")
    assert JobTable(home).get("bg_1").record["exitCode"] == 0


async def test_case_76_output_that_grows_without_bound_keeps_its_ends_and_says_what_is_gone(
    home: Path, tmp_path: Path
) -> None:
    tool = workspace(tmp_path, job_cap_bytes=8 * MIB, job_head_bytes=MIB)
    await tool.call({"command": "echo first; yes 1234567 | head -c 40000000; echo last", "async": True})
    job = await asyncio.to_thread(ended, home)
    assert job.record["outputBytes"] == 40_000_011
    assert job.record["droppedBytes"] >= 40_000_011 - 8 * MIB - 4 * MIB
    assert job.output_file.stat().st_blocks * 512 <= 14 * MIB
    reply = await Tool("job").call({"read": "bg_1", "offset": 0, "limit": 10})
    assert reply.text.startswith("first\n")
    end_of_it = await Tool("job").call({"read": "bg_1", "tail": 1})
    assert end_of_it.text.startswith("last\n")
    middle = await Tool("job").call({"read": "bg_1", "offset": 2 * MIB})
    assert middle.details["droppedBytes"] > 0


async def test_case_77_readers_that_follow_a_growing_output_see_each_byte_once(home: Path, tmp_path: Path) -> None:
    await start("for i in $(seq 3000); do echo line $i; done; sleep 0.1; echo end", tmp_path)

    async def follow(limit: int) -> str:
        tool, seen, offset = Tool("job"), "", 0
        while not seen.endswith("end\n"):
            reply = await tool.call({"read": "bg_1", "offset": offset, "limit": limit})
            size = reply.details.get("nextOffset", reply.details["totalBytes"]) - offset
            # The text without the notices; its last line end is not shown.
            seen += (reply.text + "\n").encode()[:size].decode()
            offset += size
        return seen

    async with asyncio.timeout(30):
        texts = await asyncio.gather(follow(50_000), follow(4096), follow(777))
    expected = "".join(f"line {n}\n" for n in range(1, 3001)) + "end\n"
    assert [text == expected for text in texts] == [True, True, True]


# 78: kill.


async def test_case_78_stopping_what_does_not_run_signals_nothing_and_says_so(home: Path, tmp_path: Path) -> None:
    await start("exit 3", tmp_path)
    await asyncio.to_thread(eventually, lambda: JobTable(home).get("bg_1").record.get("closed"), "the end of bg_1")
    before = JobTable(home).get("bg_1").record
    reply = await Tool("job").call({"cancel": ["bg_1", "bg_99", "../..", str(os.getpid())]})
    assert reply.details["cancelled"] == [
        {"id": "bg_1", "status": "already_completed"},
        {"id": "bg_99", "status": "not_found"},
        {"id": "../..", "status": "not_found"},
        {"id": str(os.getpid()), "status": "not_found"},
    ]
    assert JobTable(home).get("bg_1").record == before
    code, _, errors = nacre("jobs", "stop", "bg_99").finish()
    assert code != 0
    assert "no job 'bg_99'; known jobs: bg_1" in errors


# 80 and 81: bad starts.


async def test_case_80_job_that_cannot_begin_is_told_with_its_start_or_at_once_after_it(
    home: Path, tmp_path: Path
) -> None:
    tool = workspace(tmp_path)
    reply = await tool.call({"command": "no-such-server --port 80", "async": True})
    if reply.details["async"]["state"] == "running":
        # The machine was too busy to start a shell within the moment: the notice tells.
        async with asyncio.timeout(30):
            notice = await anext(aiter(tool.notices()))
        assert (notice.details["exitCode"], "command not found" in notice.text) == (127, True)
        return
    assert (reply.is_error, reply.details["exitCode"]) == (True, 127)
    assert reply.text.endswith(
        "no-such-server: command not found\n\n"
        "Background job bg_1 has ended already, exit code 127: no-such-server --port 80"
    )


SERVER = """
import socket, signal
with socket.create_server(("127.0.0.1", {port})):
    print("up", flush=True)
    signal.pause()
"""


async def test_case_81_second_server_fails_visibly_and_the_first_is_untouched(home: Path, tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (tmp_path / "server.py").write_text(SERVER.format(port=port), encoding="utf-8")
    command = {"command": f"{sys.executable} server.py", "until": {"regex": "^up$"}}
    tool = workspace(tmp_path)
    first = await tool.call(command)
    assert first.details["async"]["jobId"] == "bg_1"
    second = await tool.call(command)
    assert second.is_error
    assert "Address already in use" in second.text
    assert JobTable(home).get("bg_1").running
    with socket.create_connection(("127.0.0.1", port), timeout=5):
        pass


# 83: normal exit.


def test_case_83_jobs_of_a_nacre_that_ends_normally_go_on(home: Path, tmp_path: Path) -> None:
    program = nacre(
        "call", "workspace", json.dumps({"command": f"{WAIT}; echo on; exit 5", "async": True}), cwd=tmp_path
    )
    assert json.loads(program.succeed())["details"]["async"]["jobId"] == "bg_1"
    assert JobTable(home).get("bg_1").running
    (tmp_path / "go").touch()
    assert ended(home).record["exitCode"] == 5


async def test_delivery_is_not_lost_when_a_listener_leaves_before_the_end(home: Path, tmp_path: Path) -> None:
    await start(WAIT, tmp_path)
    table = JobTable(home)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await anext(completions(table, lambda _: True))
    (tmp_path / "go").touch()
    async with asyncio.timeout(30):
        assert (await anext(completions(table, lambda _: True))).id == "bg_1"
