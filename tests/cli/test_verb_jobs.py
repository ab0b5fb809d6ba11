"""`nacre jobs`: the background jobs of a state directory, whoever started them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Finished, Nacre
from nacre import cli
from nacre.jobs.table import JobTable
from nacre.warden import children, record

KEYS = ["id", "command", "state", "exitCode", "signal", "pid", "outputFile", "startedAt", "endedAt"]


class Jobs:
    """Jobs that are ended with the test."""

    def __init__(self, nacre: Nacre) -> None:
        self._nacre = nacre
        self._pids: list[int] = []

    def start(self, command: str) -> dict[str, Any]:
        """The details of a background call."""
        done = self._nacre("call", "modes", json.dumps({"command": command, "mode": "background"}))
        details: dict[str, Any] = json.loads(done.out)["details"]
        self._pids.append(details["pid"])
        return details

    def end(self) -> None:
        for pid in self._pids:
            try:
                os.killpg(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


@pytest.fixture
def jobs(nacre: Nacre) -> Iterator[Jobs]:
    started = Jobs(nacre)
    yield started
    started.end()


def test_show_gives_the_facts_of_a_running_job(nacre: Nacre, jobs: Jobs, home: Path) -> None:
    job = jobs.start("sleep 1000")
    done = nacre("jobs", "show", "--json", "bg_1")
    facts = json.loads(done.out)
    assert (done.code, done.err, list(facts)) == (0, "", KEYS)
    assert 0 < facts.pop("startedAt") <= time.time()
    assert facts == {
        "id": "bg_1",
        "command": "sleep 1000",
        "state": "running",
        "exitCode": None,
        "signal": None,
        "pid": job["pid"],
        "outputFile": str(home / "jobs" / "bg_1" / "output"),
        "endedAt": None,
    }


def test_list_is_an_array_of_the_same_facts_oldest_first(nacre: Nacre, jobs: Jobs) -> None:
    jobs.start("exit 3")
    jobs.start("kill -TERM $$")
    shown = [json.loads(nacre("jobs", verb, "--json", job).out) for verb in ("wait",) for job in ("bg_1", "bg_2")]
    done = nacre("jobs", "list", "--json")
    assert (done.code, json.loads(done.out)) == (0, shown)
    assert [(job["id"], job["state"], job["exitCode"], job["signal"]) for job in shown] == [
        ("bg_1", "exited", 3, None),
        ("bg_2", "signalled", None, "SIGTERM"),
    ]


def test_no_jobs_are_an_empty_array_and_said_to_people(nacre: Nacre) -> None:
    assert nacre("jobs", "list", "--json") == Finished(0, "[]\n", "")
    assert nacre("jobs", "list") == Finished(0, "", "no jobs\n")


def test_people_get_a_line_a_job(nacre: Nacre, jobs: Jobs) -> None:
    jobs.start("echo 'two\nlines'")
    assert nacre("jobs", "wait", "bg_1").code == 0
    line = nacre("jobs", "list").out
    assert line.split()[:3] == ["bg_1", "exited", "0"]
    assert line.endswith("  \"echo 'two\\nlines'\"\n")
    assert line.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -KILL $$", 137)], ids=["success", "failure", "signal"]
)
def test_wait_exits_with_the_job_s_code(nacre: Nacre, jobs: Jobs, command: str, code: int) -> None:
    jobs.start(command)
    assert nacre("jobs", "wait", "bg_1").code == code


def test_wait_waits(nacre: Nacre, jobs: Jobs, fifo: Path) -> None:
    jobs.start(f"read line <{fifo}; exit 5")
    with nacre.start("jobs", "wait", "bg_1") as waiting:
        fifo.write_text("go\n", encoding="utf-8")
        assert waiting.wait(10) == 5


def test_wait_gives_up_with_124_and_the_job_goes_on(nacre: Nacre, jobs: Jobs) -> None:
    job = jobs.start("sleep 1000")
    assert nacre("jobs", "wait", "--timeout", "0.2", "bg_1") == Finished(
        124, "", "nacre: bg_1 is still running after 0.2 s\n"
    )
    os.kill(job["pid"], 0)


@pytest.mark.parametrize("timeout", ["-1", "nan", "inf"])
def test_wait_refuses_a_limit_that_no_clock_can_count(nacre: Nacre, jobs: Jobs, timeout: str) -> None:
    jobs.start("true")
    done = nacre("jobs", "wait", "--timeout", timeout, "bg_1")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("nacre: timeout must be ")


def test_logs_are_the_output_file_byte_for_byte(nacre: Nacre, jobs: Jobs) -> None:
    job = jobs.start("echo out; echo err >&2")
    nacre("jobs", "wait", "bg_1")
    text = "out\nerr\n\n\n[background process completed]\n"
    assert nacre("jobs", "logs", "bg_1") == Finished(0, text, "")
    assert nacre("jobs", "logs", "--tail", "2", "bg_1") == Finished(0, "\n[background process completed]\n", "")
    assert nacre("jobs", "logs", "--lines", "2:2", "bg_1") == Finished(0, "err\n", "")
    assert nacre("jobs", "logs", "--offset", "4", "--limit", "3", "bg_1") == Finished(0, "err", "")
    assert Path(job["outputFile"]).read_text(encoding="utf-8") == text


def test_logs_as_json_are_one_object(nacre: Nacre, jobs: Jobs) -> None:
    jobs.start("printf 'a\\377'")
    nacre("jobs", "wait", "bg_1")
    done = nacre("jobs", "logs", "--json", "bg_1")
    assert json.loads(done.out) == {
        "id": "bg_1",
        "offset": 0,
        "nextOffset": 35,
        "skippedBytes": 0,
        "text": "a�\n\n[background process completed]\n",
    }


def test_stop_ends_the_job_and_everything_it_started(nacre: Nacre, jobs: Jobs, fifo: Path) -> None:
    jobs.start(f"setsid -f sleep 1000; sleep 1000 & echo $$ $! >{fifo}; wait")
    pids = fifo.read_text(encoding="utf-8").split()
    done = nacre("jobs", "stop", "--json", "bg_1")
    facts = json.loads(done.out)
    assert (done.code, done.err, list(facts)) == (0, "", KEYS)
    assert (facts["state"], facts["exitCode"], facts["signal"]) == ("stopped", None, None)
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []
    assert nacre("jobs", "logs", "bg_1").out == "\n\n[background process failed: stopped on request]\n"


def test_stopping_a_job_that_has_ended_changes_nothing_and_says_so(nacre: Nacre, jobs: Jobs) -> None:
    jobs.start("exit 3")
    before = json.loads(nacre("jobs", "wait", "--json", "bg_1").out)
    done = nacre("jobs", "stop", "--json", "bg_1")
    assert (done.code, json.loads(done.out), done.err) == (0, before, "nacre: bg_1 had ended already\n")


@pytest.mark.parametrize("verb", ["show", "wait", "logs", "stop"])
@pytest.mark.parametrize("job_id", ["bg_9", "9", "", "../jobs/bg_1", "bg_1\n"])
def test_an_unknown_id_names_the_known_ones(
    verb: str, job_id: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, directory = JobTable(home).allot()
    record.write(str(directory), _record("bg_1", state="exited", exitCode=0, closed=True))
    assert cli.main(["jobs", verb, job_id]) == 125
    assert capsys.readouterr() == ("", f"nacre: no job {job_id!r}; known jobs: bg_1\n")


def _record(job_id: str, **facts: Any) -> dict[str, Any]:
    return {"id": job_id, "version": record.VERSION, "command": "make", "pid": 1, "startedAt": 1.0, **facts}


def test_a_damaged_record_is_named_and_the_others_are_listed(nacre: Nacre, home: Path) -> None:
    table = JobTable(home)
    _, damaged = table.allot()
    (damaged / record.RECORD).write_text("{half", encoding="utf-8")
    _, directory = table.allot()
    record.write(str(directory), _record("bg_2", state="exited", exitCode=0, closed=True))
    done = nacre("jobs", "list", "--json", "--all")
    assert (done.code, [job["id"] for job in json.loads(done.out)]) == (0, ["bg_2"])
    assert done.err.startswith("nacre: left alone: bg_1: its record ")


def test_a_job_whose_runner_is_gone_is_waited_for_and_then_lost(nacre: Nacre, home: Path, fifo: Path) -> None:
    import subprocess

    _, directory = JobTable(home).allot()
    (directory / record.OUTPUT).write_bytes(b"")
    with subprocess.Popen(["sh", "-c", f"read line <{fifo}"]) as orphan:
        facts = {"state": "running", "pid": orphan.pid, "pidStart": children.start_time(orphan.pid)}
        record.write(str(directory), _record("bg_1", bootId=children.boot_id(), completionLine=True, **facts))
        shown = nacre("jobs", "show", "--json", "bg_1")
        assert list(json.loads(shown.out)) == KEYS
        assert shown.err == "nacre: bg_1: its runner is gone; it runs on, but its exit status will be unknown\n"
        with nacre.start(
            "jobs", "wait", "--json", "bg_1", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as waiting:
            fifo.write_text("go\n", encoding="utf-8")
            orphan.wait(10)
            out, _ = waiting.communicate(timeout=30)
    assert (waiting.returncode, json.loads(out)["state"]) == (125, "lost")


def test_a_state_directory_that_is_none_is_one_line_on_stderr(nacre: Nacre) -> None:
    done = nacre("jobs", "list", env={"NACRE_HOME": "/etc/passwd"})
    assert (done.code, done.out) == (125, "")
    advice = "set NACRE_HOME to a directory that can be used"
    assert done.err == f"nacre: no job can be listed in /etc/passwd/jobs: Not a directory; {advice}\n"


def test_bad_usage_is_2_and_names_what_is_missing(nacre: Nacre) -> None:
    done = nacre("jobs", "show")
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("nacre jobs show: error: the following arguments are required: id\n")


def test_following_prints_the_output_as_it_comes_and_ends_with_the_job(nacre: Nacre, jobs: Jobs, fifo: Path) -> None:
    jobs.start(f"echo first; read line <{fifo}; echo $line")
    with nacre.start("jobs", "logs", "-f", "bg_1", stdout=subprocess.PIPE) as following:
        assert following.stdout is not None
        assert following.stdout.readline() == b"first\n"
        fifo.write_text("second\n", encoding="utf-8")
        assert following.stdout.readline() == b"second\n"
        assert following.wait(10) == 0


def test_jobs_are_chosen_by_outcome(nacre: Nacre, jobs: Jobs) -> None:
    jobs.start("exit 3")
    jobs.start("sleep 1000")
    nacre("jobs", "wait", "bg_1")
    listed = {
        outcome: [job["id"] for job in json.loads(nacre("jobs", "list", "--json", "--outcome", outcome).out)]
        for outcome in ("exited", "running", "lost")
    }
    assert listed == {"exited": ["bg_1"], "running": ["bg_2"], "lost": []}


def test_a_terminal_has_a_header_and_a_failure_in_red(nacre: Nacre, jobs: Jobs) -> None:
    jobs.start("exit 3")
    nacre("jobs", "wait", "bg_1")
    header, row = nacre.at_terminal("jobs", "list").out.splitlines()
    assert header == "\x1b[1m  JOB      OUTCOME               AGE  COMMAND\x1b[0m"
    assert row.startswith("\x1b[31m✗ \x1b[0mbg_1     \x1b[31mexited 3        \x1b[0m ")


def test_on_a_terminal_a_job_is_a_card_with_the_end_of_its_output(nacre: Nacre, jobs: Jobs) -> None:
    jobs.start("seq 30; exit 3")
    nacre("jobs", "wait", "bg_1")
    shown = nacre.at_terminal("jobs", "show", "bg_1", NO_COLOR="1").out.splitlines()
    assert shown[0] == "▎✗ $ seq 30; exit 3"
    assert shown[1] == "▎  … 20 earlier lines (nacre jobs logs bg_1)"
    assert shown[2:12] == [f"▎  {number}" for number in range(21, 31)]
    assert shown[12].startswith("▎  exit 3 · ")
    assert "bg_1" in shown[12]
    assert nacre("jobs", "show", "bg_1").out.startswith("id           bg_1\n")


def test_a_job_that_is_waited_for_shows_its_progress(nacre: Nacre, jobs: Jobs) -> None:
    jobs.start("echo one; echo two; sleep 1.5")
    shown = nacre.at_terminal("jobs", "wait", "bg_1", NO_COLOR="1").out
    assert " · 8B · 2 lines · two" in shown
    # The line is erased before the card is printed.
    assert "\r\x1b[K▎✓ $ echo one; echo two; sleep 1.5\n" in shown
