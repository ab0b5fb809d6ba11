"""Job ids and records: unique, recovered, never guessed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from nacre.errors import UnknownJobError
from nacre.jobs.table import JobTable
from nacre.warden import children, record


def _job(table: JobTable, **facts: Any) -> Path:
    """A job's directory with the record of a runner that is gone."""
    job_id, directory = table.allot()
    (directory / record.OUTPUT).write_bytes(b"some output\n")
    base = {
        "id": job_id,
        "version": record.VERSION,
        "command": "make",
        "state": "running",
        "pid": 2**22 + 1,
        "pidStart": 1,
        "bootId": children.boot_id(),
        "startedAt": time.time(),
        "completionLine": True,
    }
    record.write(str(directory), base | facts)
    return directory


def test_ids_of_several_processes_never_collide(home: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from nacre.jobs.table import JobTable\n"
        "table = JobTable(Path(sys.argv[1]))\n"
        "print(*[table.allot()[0] for _ in range(25)])"
    )
    workers = [
        subprocess.Popen([sys.executable, "-c", script, str(home)], stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    ids = [job_id for worker in workers for job_id in worker.communicate()[0].split()]
    assert sorted(ids, key=lambda job_id: int(job_id[3:])) == [f"bg_{number}" for number in range(1, 101)]


def test_an_id_is_not_used_again_after_its_job_was_removed(home: Path) -> None:
    table = JobTable(home)
    first, directory = table.allot()
    table.discard(directory)
    assert (first, table.allot()[0]) == ("bg_1", "bg_2")


def test_a_lost_counter_does_not_bring_an_id_back(home: Path) -> None:
    table = JobTable(home)
    table.allot()
    (table.root / ".last").write_text("not a number", encoding="utf-8")
    assert table.allot()[0] == "bg_2"


def test_a_job_whose_runner_was_killed_is_lost_and_says_so_once(home: Path) -> None:
    table = JobTable(home)
    directory = _job(table)
    for _ in range(2):
        (job,) = table.list().jobs
        assert (job.state, job.facts()["exitCode"]) == ("lost", None)
    text = (directory / record.OUTPUT).read_text(encoding="utf-8")
    assert text == (
        "some output\n\n\n[background process error: lost: its runner was killed, its exit status is unknown]\n"
    )


def test_a_job_from_before_a_reboot_is_lost_and_its_pid_is_not_signalled(home: Path) -> None:
    table = JobTable(home)
    mine = os.getpid()
    _job(table, pid=mine, pidStart=children.start_time(mine), runnerPid=mine, bootId="another boot")
    assert table.stop("bg_1").state == "lost"
    assert table.get("bg_1").record["reason"].startswith("lost: the machine was restarted")


def test_a_job_that_outlives_its_runner_runs_on_with_unknown_status(home: Path) -> None:
    table = JobTable(home)
    with subprocess.Popen(["sleep", "1000"]) as sleeper:
        _job(table, pid=sleeper.pid, pidStart=children.start_time(sleeper.pid))
        job = table.get("bg_1")
        assert (job.state, job.note) == (
            "running",
            "its runner is gone; it runs on, but its exit status will be unknown",
        )
        table.stop("bg_1")
        assert sleeper.wait(5) == -9
    assert table.get("bg_1").state == "lost"


def test_a_status_recorded_just_before_the_runner_died_is_kept_and_its_line_completed(home: Path) -> None:
    table = JobTable(home)
    directory = _job(table, state="exited", exitCode=3, outputBytes=12, endedAt=time.time())
    assert table.get("bg_1").facts()["exitCode"] == 3
    assert table.get("bg_1").state == "exited"
    text = (directory / record.OUTPUT).read_text(encoding="utf-8")
    assert text == "some output\n\n\n[background process failed: exit code 3]\n"


def test_a_final_record_without_its_time_is_told_in_the_log_without_a_duration(home: Path) -> None:
    _job(JobTable(home), state="exited", exitCode=3, endedAt=None)
    (job,) = JobTable(home).list().jobs
    assert job.state == "exited"
    (entry,) = [json.loads(line) for line in (home / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    assert (entry["jobId"], entry["exitCode"], entry["durationMs"]) == ("bg_1", 3, None)


def test_a_completion_line_that_was_written_is_not_written_again(home: Path) -> None:
    table = JobTable(home)
    directory = _job(table, state="exited", exitCode=0, outputBytes=4, endedAt=time.time())
    table.list()
    assert (directory / record.OUTPUT).read_bytes() == b"some output\n"


@pytest.mark.parametrize(
    "content",
    ["{half", "[]", json.dumps({"id": "bg_1", "state": "running", "version": 99})],
    ids=["half", "list", "newer"],
)
def test_a_damaged_record_is_named_and_left_alone(home: Path, content: str) -> None:
    table = JobTable(home)
    _, directory = table.allot()
    (directory / record.RECORD).write_text(content, encoding="utf-8")
    listing = table.list()
    assert listing.jobs == ()
    assert listing.damaged[0].startswith("bg_1: its record ")
    assert (directory / record.RECORD).read_text(encoding="utf-8") == content


def test_an_unknown_id_names_the_known_ones(home: Path) -> None:
    table = JobTable(home)
    _job(table, state="exited", exitCode=0, closed=True)
    with pytest.raises(UnknownJobError, match="no job 'bg_9'; known jobs: bg_1"):
        table.get("bg_9")
    with pytest.raises(UnknownJobError):
        table.get("../../etc")


def test_old_jobs_are_forgotten_and_running_ones_are_not(home: Path) -> None:
    table = JobTable(home)
    old = _job(table, state="exited", exitCode=0, closed=True, endedAt=time.time() - 100)
    new = _job(table, state="exited", exitCode=0, closed=True, endedAt=time.time())
    assert table.prune(max_age_seconds=50) == 1
    assert (old.exists(), new.exists()) == (False, True)
