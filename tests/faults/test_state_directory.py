"""A state directory that is full, read-only, a file, or deleted in use: the status stays honest, nothing is raised."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from outside import Program, end, eventually, nacre

from nacre import Session, Tool, run
from nacre.contracts.contract import Reply
from nacre.jobs.job import Job
from nacre.jobs.liveness import RunnerLock
from nacre.jobs.table import JobTable
from nacre.settings import JobSettings, LogSettings, Settings
from nacre.warden import children, record

WAIT = "until [ -e go ]; do sleep 0.01; done"
QUICK = Settings(jobs=JobSettings(auto_background_seconds=0.2))
# Far above what a call here takes, far below for ever.
PATIENCE_SECONDS = 30.0


class SmallDisk:
    """A file system of a few hundred kilobytes, below a directory of the test."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def fill(self) -> None:
        """Take all the room that is left."""
        with pytest.raises(OSError, match="No space left"):
            (self.path / "filler").write_bytes(bytes(1024 * 1024))

    def free(self) -> None:
        (self.path / "filler").unlink()


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallDisk]:
    """The state directory is on it."""
    path = tmp_path / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(path)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs root: mounts a small file system")
    monkeypatch.setenv("NACRE_HOME", str(path / "state"))
    yield SmallDisk(path)
    subprocess.run(["umount", "-l", str(path)], check=True)


def ended(table: JobTable, job_id: str = "bg_1") -> Job:
    def final() -> Job | None:
        job = table.get(job_id)
        return None if job.running else job

    return eventually(final, f"the end of {job_id}")


# Full.


async def test_a_job_that_ends_on_a_full_disk_keeps_its_status(disk: SmallDisk, tmp_path: Path) -> None:
    async with Tool("modes", cwd=tmp_path) as tool:
        reply = await tool.call({"command": f"{WAIT}; exit 3", "mode": "background"})
        disk.fill()
        (tmp_path / "go").touch()
        table = tool.engine.jobs
        job = ended(table, reply.details["jobId"])
        assert (job.state, job.record["exitCode"]) == ("exited", 3)
        for _ in range(3):
            (listed,) = table.list().jobs
            assert (listed.state, listed.record["exitCode"]) == ("exited", 3)
        assert sorted(os.listdir(job.directory)) == [record.LOCK, record.OUTPUT, record.RECORD]
        disk.free()
        for _ in range(2):
            assert table.get(job.id).note is None
        line = "\n\n[background process failed: exit code 3]\n"
        assert job.output_file.read_text(encoding="utf-8") == line


def test_a_completion_line_that_a_full_disk_cut_is_completed_later(disk: SmallDisk) -> None:
    table = JobTable(os.environ["NACRE_HOME"])
    job_id, directory = table.allot()
    facts = {"id": job_id, "version": record.VERSION, "state": "exited", "exitCode": 3, "completionLine": True}
    record.write(str(directory), facts | {"outputBytes": 4080})
    (directory / record.OUTPUT).write_bytes(b"x" * 4080)
    disk.fill()
    for _ in range(2):
        job = table.get(job_id)
        assert (job.state, job.note) == ("exited", "the completion line could not be written: No space left on device")
        # As much of it as the last block had room for.
        assert job.output_file.stat().st_size == 4096
    assert sorted(os.listdir(directory)) == [record.LOCK, record.OUTPUT, record.RECORD]
    disk.free()
    for _ in range(2):
        assert table.get(job_id).note is None
    line = b"\n\n[background process failed: exit code 3]\n"
    assert (directory / record.OUTPUT).read_bytes() == b"x" * 4080 + line


async def test_a_job_whose_runner_is_killed_on_a_full_disk_is_listed_as_lost(disk: SmallDisk, tmp_path: Path) -> None:
    async with Tool("modes", cwd=tmp_path) as tool:
        reply = await tool.call({"command": "sleep 1000", "mode": "background"})
        table = tool.engine.jobs
        job = table.get(reply.details["jobId"])
        disk.fill()
        # The warden ends what a killed runner answered for.
        os.kill(job.record["runnerPid"], 9)
        lost = ended(table, job.id)
        assert (lost.state, lost.facts()["exitCode"]) == ("lost", None)
        assert table.list().damaged == ()
        assert sorted(os.listdir(job.directory)) == [record.LOCK, record.OUTPUT, record.RECORD]


async def test_the_command_line_lists_a_job_that_ended_on_a_full_disk(disk: SmallDisk, tmp_path: Path) -> None:
    async with Tool("workspace", cwd=tmp_path) as tool:
        reply = await tool.call({"command": f"{WAIT}; exit 3", "async": True})
        disk.fill()
        (tmp_path / "go").touch()
        job = ended(tool.engine.jobs, reply.details["async"]["jobId"])
        with nacre("jobs", "list", "--json", cwd=tmp_path) as listing:
            (facts,) = json.loads(listing.succeed())
        assert (facts["id"], facts["state"], facts["exitCode"]) == (job.id, "exited", 3)


async def test_a_command_that_finds_no_room_for_a_job_stays_in_the_foreground(disk: SmallDisk, tmp_path: Path) -> None:
    async with Tool("workspace", cwd=tmp_path, settings=QUICK) as tool:
        await tool.call({"command": "true"})
        disk.fill()
        reply = await tool.call({"command": "sleep 0.5; echo whole"})
    assert not reply.is_error
    assert reply.text.startswith("whole\n")
    assert "it could not go on in the background: no job can be kept in" in reply.text
    assert "No space left on device" in reply.text


async def test_a_job_that_is_asked_for_on_a_full_disk_is_refused_and_leaves_nothing(
    disk: SmallDisk, tmp_path: Path
) -> None:
    async with Tool("workspace", cwd=tmp_path) as tool:
        await tool.call({"command": "true", "async": True})
        disk.fill()
        for _ in range(3):
            reply = await tool.call({"command": "true", "async": True})
            assert reply.is_error
            assert "No space left on device" in reply.text
        assert [name for name in os.listdir(tool.engine.jobs.root) if name.startswith("bg_")] == ["bg_1"]


# A file, or read-only.


@pytest.fixture(params=["a file", "read-only"])
def reason(request: pytest.FixtureRequest, home: Path) -> Iterator[str]:
    """A state directory that cannot be used; why, in the system's words."""
    if request.param == "a file":
        home.write_text("", encoding="utf-8")
        yield "Not a directory"
        return
    home.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(home)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs root: mounts a read-only file system")
    yield "Read-only file system"
    subprocess.run(["umount", "-l", str(home)], check=True)


async def test_a_command_runs_without_a_state_directory_and_says_what_is_lost(reason: str, tmp_path: Path) -> None:
    lost = f"the audit log could not be written: {reason}"
    result = await run("seq 30000")
    assert (result.exit_code, result.artifact) == (0, None)
    assert [notice for notice in result.notices if lost in notice or "the full output could not be kept" in notice]
    async with Session(cwd=tmp_path) as session:
        assert lost in (await session.run("true")).notices
    for contract in ("modes", "workspace", "anthropic"):
        async with Tool(contract, cwd=tmp_path) as tool:
            reply = await tool.call({"command": "echo hi"})
            assert (reply.is_error, lost in reply.text) == (False, True)
    async with Tool("basic", cwd=tmp_path) as tool:
        reply = await tool.call({"command": "echo hi"})
        assert (reply.json(), reply.notices) == ({"stdout": "hi\n", "stderr": "", "exitCode": 0}, (lost,))
    async with Tool("openai", cwd=tmp_path) as tool:
        (output,) = (await tool.call({"commands": ["echo hi"]})).json()["output"]
        assert output["stdout"] == "hi\n"


async def test_a_job_that_cannot_be_kept_is_a_clear_answer(reason: str, home: Path, tmp_path: Path) -> None:
    said = f"no job can be kept in {home}/jobs: {reason}; set NACRE_HOME to a directory that can be used"
    async with Tool("modes", cwd=tmp_path) as tool:
        reply = await tool.call({"command": "true", "mode": "background"})
        assert (reply.is_error, reply.text) == (True, f"[could not run: {said}]")
    async with Tool("workspace", cwd=tmp_path, settings=QUICK) as tool:
        for more in ({}, {"pty": True}):
            reply = await tool.call({"command": "true", "async": True, **more})
            assert (reply.is_error, reply.text) == (True, said)
        reply = await tool.call({"command": "sleep 0.5; echo whole"})
        assert (reply.is_error, reply.text.startswith("whole\n")) == (False, True)
        assert f"it could not go on in the background: {said}" in reply.text
        reply = await tool.call({"command": "sleep 1000 & echo $!"})
        assert f"what it left running could not be kept as a job: {said}" in reply.text
        end(int(reply.text.split("\n", 1)[0]))
    async with Tool("job", cwd=tmp_path) as tool:
        arguments: list[dict[str, Any]] = [
            {"list": True},
            {"poll": []},
            {"poll": ["bg_1"]},
            {"read": "bg_1"},
            {"cancel": ["bg_1"]},
            {"write": "bg_1", "text": "x"},
        ]
        for one in arguments:
            assert isinstance(await tool.call(one), Reply)


@pytest.mark.parametrize(
    "verb",
    [
        ("run", "--", "true"),
        ("call", "workspace", '{"command": "true", "async": true}'),
        ("jobs", "list"),
        ("jobs", "show", "bg_1"),
        ("jobs", "stop", "bg_1"),
        ("artifacts", "list"),
        ("artifacts", "show", "1"),
        ("artifacts", "prune"),
        ("log",),
        ("doctor",),
    ],
    ids=lambda verb: "-".join(verb[:2]),
)
def test_no_verb_answers_with_a_traceback(reason: str, verb: tuple[str, ...]) -> None:
    with nacre(*verb) as program:
        code, out, errors = program.finish()
    assert code in (0, 1, 125)
    assert "Traceback" not in errors + out
    if verb[0] == "doctor":
        assert "LACK  state" in out
        assert "ok    containment" in out


# Deleted in use.


async def test_ids_go_on_when_the_state_directory_is_deleted_in_use(home: Path, tmp_path: Path) -> None:
    async with Tool("workspace", cwd=tmp_path) as tool:
        first = (await tool.call({"command": "sleep 1000", "async": True})).details
        shutil.rmtree(home)
        second = (await tool.call({"command": "true", "async": True})).details
        assert (first["async"]["jobId"], second["async"]["jobId"]) == ("bg_1", "bg_2")
        end(first["pid"])


@pytest.mark.parametrize("kind", ["started", "moved", "left"])
async def test_ids_go_on_in_another_program_while_a_job_of_the_deleted_directory_lives(
    kind: str, home: Path, tmp_path: Path
) -> None:
    commands = {"started": "sleep 1000", "moved": "sleep 1000", "left": "sleep 1000 & echo up"}
    arguments = {"command": commands[kind], **({"async": True} if kind == "started" else {})}
    another = ("call", "workspace", '{"command": "true", "async": true}')
    async with Tool("workspace", cwd=tmp_path, settings=QUICK) as tool:
        assert (await tool.call({"command": "true", "async": True})).details["async"]["jobId"] == "bg_1"
        assert (await tool.call(arguments)).details["async"]["jobId"] == "bg_2"
        job = tool.engine.jobs.get("bg_2")
        shutil.rmtree(home)
        with nacre(*another, cwd=tmp_path) as program:
            assert json.loads(program.succeed())["details"]["async"]["jobId"] == "bg_3"
        with nacre(*another, cwd=tmp_path, env={"NACRE_HOME": str(tmp_path / "other")}) as program:
            assert json.loads(program.succeed())["details"]["async"]["jobId"] == "bg_1"
        os.kill(job.record["runnerPid"], record.STOP_SIGNAL)
        eventually(lambda: record.claimed(str(home / "jobs")) == [], "the end of its runner")
        shutil.rmtree(home)
        with nacre(*another, cwd=tmp_path) as program:
            assert json.loads(program.succeed())["details"]["async"]["jobId"] == "bg_1"


async def test_the_end_of_a_job_whose_directory_was_deleted_leaves_its_successor_alone(
    home: Path, tmp_path: Path
) -> None:
    async with Tool("modes", cwd=tmp_path) as tool:
        old = (await tool.call({"command": f"{WAIT}; exit 3", "mode": "background"})).details
        lock = RunnerLock(tool.engine.jobs.get(old["jobId"]))
        shutil.rmtree(home)
        # Another program knows nothing of the first one's jobs.
        with nacre("call", "modes", '{"command": "sleep 1000", "mode": "background"}', cwd=tmp_path) as program:
            new = json.loads(program.succeed())["details"]
        directory = Path(new["outputFile"]).parent
        os.rename(directory, directory.parent / old["jobId"])
        (tmp_path / "go").touch()
        eventually(lambda: not lock.held(), "the end of the first job")
        lock.close()
        job = JobTable(home).get(old["jobId"])
        assert (job.state, job.record["pid"], job.output_file.read_bytes()) == ("running", new["pid"], b"")
        os.kill(job.record["runnerPid"], signal.SIGTERM)
        eventually(lambda: children.is_zombie(job.record["runnerPid"]), "the end of the second job")


# Locked by a process that is stopped.

HOLDER = """
import fcntl, os, signal, sys
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.flock(fd, fcntl.LOCK_EX)
print("held", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
"""


async def test_a_stopped_process_that_holds_the_counter_of_jobs_hangs_no_call(home: Path, tmp_path: Path) -> None:
    async with Tool("workspace", cwd=tmp_path) as tool:
        await tool.call({"command": "true", "async": True})
        with Program(HOLDER, str(home / "jobs" / ".last")) as holder:
            assert holder.line() == "held"
            async with asyncio.timeout(PATIENCE_SECONDS):
                reply = await tool.call({"command": "true", "async": True})
        assert reply.details["async"]["jobId"] == "bg_2"
        assert f"the counter of jobs in {home}/jobs is locked by another process" in reply.text


async def test_a_stopped_process_that_holds_the_log_hangs_no_call(home: Path, tmp_path: Path) -> None:
    settings = Settings(log=LogSettings(log_cap_bytes=1024))
    await run("true", settings=settings)
    with Program(HOLDER, str(home / "log.jsonl")) as holder:
        assert holder.line() == "held"
        notice = "the audit log is full and is not turned over: another process, which may be stopped, holds its lock"
        async with asyncio.timeout(PATIENCE_SECONDS):
            while notice not in (await run("sleep 0.05", settings=settings)).notices:
                pass
    assert (await run("true", settings=settings)).notices == ()
    assert (home / "log.jsonl.1").exists()


async def test_a_stopped_process_that_holds_the_artifact_store_hangs_no_call(home: Path) -> None:
    assert (await run("seq 30000")).artifact is not None
    with Program(HOLDER, str(home / "artifacts" / "counter")) as holder:
        assert holder.line() == "held"
        async with asyncio.timeout(PATIENCE_SECONDS):
            result = await run("seq 30000")
    assert result.artifact is None
    assert any("is locked by another process" in notice for notice in result.notices)


# Replaced by a pipe, which waits for its other end when it is opened.


@pytest.mark.parametrize("name", [record.RECORD, record.LOCK, record.OUTPUT, record.RESERVE])
async def test_a_pipe_in_place_of_a_file_of_a_job_hangs_nothing(home: Path, tmp_path: Path, name: str) -> None:
    """The job itself can put one there."""
    command = f'{WAIT}; rm -f "$dir/{name}"; mkfifo "$dir/{name}"; exit 3'
    async with Tool("workspace", cwd=tmp_path) as tool, Tool("job", cwd=tmp_path) as companion:
        directory = home / "jobs" / "bg_1"
        async with asyncio.timeout(PATIENCE_SECONDS):
            reply = await tool.call({"command": command, "async": True, "env": {"dir": str(directory)}})
            pid = reply.details["pid"]
            (tmp_path / "go").touch()
            while not children.is_zombie(pid):
                await asyncio.sleep(0.01)
            for arguments in ({"list": True}, {"poll": ["bg_1"], "wait": 1}, {"read": "bg_1"}, {"cancel": ["bg_1"]}):
                await companion.call(arguments)
            with nacre("jobs", "logs", "bg_1") as program:
                program.finish()


async def test_a_pipe_in_place_of_the_log_hangs_no_call(home: Path) -> None:
    home.mkdir()
    os.mkfifo(home / "log.jsonl")
    async with asyncio.timeout(PATIENCE_SECONDS):
        result = await run("true")
    assert any(notice.startswith("the audit log could not be written") for notice in result.notices)
    with nacre("log") as program:
        assert program.succeed() == ""
