"""A worker makes calls on files, in its own process and with a time limit."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.errors import UnknownJobError
from nacre.jobs.table import JobTable
from nacre.state_directory import StateDirectoryError
from nacre.state_worker import Worker

PATIENCE_SECONDS = 30.0


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    # No file system here is slow; a machine may be.
    monkeypatch.setattr("nacre.state_worker.ANSWER_SECONDS", PATIENCE_SECONDS)
    worker = Worker(silence_seconds=0.0)
    yield worker
    worker.close()


def wait_until_over(worker: Worker) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not worker.is_over:
        assert time.monotonic() < end


def test_a_descriptor_belongs_to_the_worker(worker: Worker, tmp_path: Path) -> None:
    fd = worker.call(os.open, tmp_path / "file", os.O_RDWR | os.O_CREAT)
    assert worker.call(os.pwrite, fd, memoryview(b"text"), 2) == 4
    assert worker.call(os.pread, fd, 10, 0) == b"\0\0text"
    assert worker.call(os.getpid) != os.getpid()


def test_an_error_is_raised_as_it_was(worker: Worker, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as missing:
        worker.call(os.listdir, str(tmp_path / "missing"))
    assert (missing.value.strerror, missing.value.filename) == ("No such file or directory", str(tmp_path / "missing"))
    with pytest.raises(UnknownJobError, match="no job 'bg_7'; known jobs: none") as unknown:
        worker.call(JobTable(tmp_path).get, "bg_7")
    assert unknown.value.job_id == "bg_7"


def test_a_call_that_takes_too_long_ends_the_worker(worker: Worker) -> None:
    with pytest.raises(StateDirectoryError, match=r"did not answer within 0\.1 s"):
        worker.call_within(0.1, time.sleep, 100)
    with pytest.raises(StateDirectoryError, match=r"did not answer within 0\.1 s"):
        worker.call(os.getpid)
    wait_until_over(worker)


def test_closing_a_worker_that_does_not_end_is_no_error() -> None:
    worker = Worker()
    pid = worker.call_within(PATIENCE_SECONDS, os.getpid)
    os.kill(pid, signal.SIGSTOP)
    try:
        worker.close()
    finally:
        os.kill(pid, signal.SIGCONT)
    wait_until_over(worker)


def test_a_worker_that_was_killed_is_told_of(worker: Worker) -> None:
    os.kill(worker.call(os.getpid), 9)
    with pytest.raises(StateDirectoryError, match="the process that looks at it is gone"):
        worker.call(os.getpid)
    wait_until_over(worker)


class HandlerError(Exception):
    """What a signal handler of the program raises."""


def test_a_call_that_a_signal_handler_interrupts_leaves_no_answer_to_the_next(worker: Worker) -> None:
    def interrupt(number: int, frame: object) -> None:
        raise HandlerError

    worker.call(os.getpid)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(HandlerError):
            worker.call_within(PATIENCE_SECONDS, time.sleep, 1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    with pytest.raises(StateDirectoryError, match="a call on it was interrupted"):
        worker.call(os.getpid)
    wait_until_over(worker)
