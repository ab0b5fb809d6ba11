"""A state directory that is full, read-only, a file, or deleted in use: the status stays honest, nothing is raised."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from outside import eventually, nacre

from nacre import Tool
from nacre.jobs.table import Job, JobTable
from nacre.warden import record

WAIT = "until [ -e go ]; do sleep 0.01; done"


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

    def remount(self, options: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{options}", str(self.path)], check=True)


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
        os.kill(job.record["runnerPid"], 9)
        os.kill(job.record["pid"], 9)
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
