"""Records on disk of an earlier version are read.

`old_state` was written by the version of 2026-11-16 (commit d5800f3): a job of each outcome, a job that ran when the
machine went down (bg_7), an artifact in one piece, one over its cap, and a log with `timedout`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

OLD = Path(__file__).with_name("old_state")
# Command, state, exit code, signal, output.
JOBS = [
    ("echo out; exit 0", "exited", 0, None, "out\n\n\n[background process completed]\n"),
    ("echo three; exit 3", "exited", 3, None, "three\n"),
    ("echo last words; kill -TERM $$", "signalled", None, "SIGTERM", "last words\n"),
    ("echo early; sleep 1000", "timedOut", None, None, "early\n"),
    ("echo stop me; sleep 1000", "stopped", None, None, "stop me\n"),
    ("echo lose me; sleep 1000", "lost", None, None, "lose me\n"),
    ("echo lose me; sleep 1000", "lost", None, None, "lose me\n"),
]


@pytest.fixture(autouse=True)
def old_state(home: Path) -> None:
    # Reading a job that no runner answers for records its end.
    shutil.copytree(OLD, home)


def nacre(*words: str) -> str:
    done = subprocess.run([sys.executable, "-m", "nacre", *words], capture_output=True, text=True, check=True)
    return done.stdout


def test_jobs_of_each_outcome_are_listed() -> None:
    listed = json.loads(nacre("jobs", "list", "--all", "--json"))
    found = [(job["command"], job["state"], job["exitCode"], job["signal"]) for job in listed]
    assert found == [job[:4] for job in JOBS]
    assert [job["id"] for job in listed] == [f"bg_{number}" for number in range(1, len(JOBS) + 1)]


@pytest.mark.parametrize(("number", "job"), list(enumerate(JOBS, start=1)), ids=[f"bg_{at}" for at in range(1, 8)])
def test_a_job_is_shown_with_its_output(home: Path, number: int, job: tuple[str, str, int, str, str]) -> None:
    command, state, code, signal, output = job
    shown = json.loads(nacre("jobs", "show", f"bg_{number}", "--json"))
    assert (shown["command"], shown["state"], shown["exitCode"], shown["signal"]) == (command, state, code, signal)
    # Where the state directory is now, not where it was.
    assert shown["outputFile"] == str(home / "jobs" / f"bg_{number}" / "output")
    assert nacre("jobs", "logs", f"bg_{number}") == output


def test_a_new_job_gets_the_next_id() -> None:
    arguments = json.dumps({"command": "echo new", "async": True})
    assert json.loads(nacre("call", "workspace", arguments))["details"]["async"]["jobId"] == "bg_8"
    nacre("jobs", "wait", "bg_8")


def test_artifacts_are_read() -> None:
    assert nacre("artifacts", "show", "1") == "".join(f"{number}\n" for number in range(1, 51))
    capped = nacre("artifacts", "show", "2")
    assert capped.startswith("1\n2\n3\n")
    assert capped.endswith("29999\n30000\n")
    assert nacre("artifacts", "grep", "^29999$").split(":", maxsplit=1)[0] == "2"


def test_the_log_is_read_as_it_was_written() -> None:
    written = (OLD / "log.jsonl").read_text(encoding="ascii").splitlines()
    read = nacre("log", "--json").splitlines()
    assert [json.loads(line) for line in read] == [json.loads(line) for line in written]
    assert "timed out" in nacre("log")
