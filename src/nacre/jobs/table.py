"""The jobs of a state directory: ids, listing, stopping, forgetting.

The directory is the truth: any nacre on it sees the same jobs. Ids are allotted under a lock.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nacre.errors import JobError, JobLimitError, UnknownJobError
from nacre.jobs.job import DIRECTORY, PREFIX, Job, Listing, is_answered_for, numbers_in, read_job
from nacre.state_directory import StateDirectoryError, answered
from nacre.warden import children, record

# How long old jobs may stay before they are looked for again.
PRUNE_SECONDS = 600.0

# A stopped process may hold the counter's lock for ever; a call does not wait for it.
LOCK_SECONDS = 0.25
LOCK_POLL_SECONDS = 0.001

# The last number that this process has allotted, by directory: one that is removed in use does not start again.
_LAST: dict[str, int] = {}


class JobTable:
    """The jobs of one state directory.

    Its methods are the steps in the life of a job directory, under one counter.
    """

    def __init__(self, state_dir: str | os.PathLike[str]) -> None:
        self.root = Path(os.path.abspath(state_dir), "jobs")
        self._prune_at = 0.0
        self._ended: set[int] = set()
        """Jobs that were found to have ended: none of them ever runs again."""

    def allot(self, *, most: int | None = None, notices: list[str] | None = None) -> tuple[str, Path]:
        """Return a new id and its empty directory, unique on this state directory.

        Args:
            notices: takes what the caller should know of a degraded start.

        Raises:
            JobLimitError: as many as `most` run already.
            JobError: the directory cannot be used.
        """
        directory, exact = self._allot(most)
        if not exact and notices is not None:
            notices.append(
                f"the counter of jobs in {self.root} is locked by another process, which may be stopped; "
                "the limit of jobs was not exact"
            )
        return directory.name, directory

    @answered(kind=JobError)
    def _allot(self, most: int | None) -> tuple[Path, bool]:
        """Return a new directory, and whether the lock of the counter could be had."""
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _locked(self.root / ".last") as (counter, exact):
                numbers = numbers_in(os.listdir(self.root))
                if most is not None and len(numbers) >= most:
                    self._refuse_beyond(most, numbers)
                text = os.pread(counter, 32, 0).strip()
                last = max([int(text) if text.isdigit() else 0, _LAST.get(str(self.root), 0), *numbers])
                if last == 0:
                    # A new directory, or one that was deleted while jobs of it live.
                    last = max([0, *numbers_in(record.claimed(str(self.root)))])
                while True:
                    last += 1
                    directory = self.root / f"{PREFIX}{last}"
                    with contextlib.suppress(FileExistsError):
                        directory.mkdir(mode=0o700)
                        break
                try:
                    os.pwrite(counter, str(last).encode(), 0)
                except OSError:
                    directory.rmdir()
                    raise
                _LAST[str(self.root)] = last
        except OSError as error:
            raise self._unusable("kept", error) from error
        return directory, exact

    def _refuse_beyond(self, most: int, numbers: list[int]) -> None:
        # The locks tell it, at microseconds each; a record takes ten times as long to read.
        asked = sorted(set(numbers) - self._ended)
        live = [number for number in asked if is_answered_for(self.root / f"{PREFIX}{number}")]
        self._ended |= set(asked) - set(live)
        if len(live) >= most:
            names = ", ".join(f"{PREFIX}{number}" for number in live)
            running = "1 job runs" if len(live) == 1 else f"{len(live)} jobs run"
            raise JobLimitError(f"{running} already (setting jobs.max_jobs): {names}; stop one")

    @answered(kind=JobError)
    def reserve(self, directory: Path, facts: dict[str, Any]) -> None:
        """Set aside the room for the records of a job that is about to start.

        Raises:
            JobError: there is none; the directory is taken back.
        """
        try:
            record.reserve(str(directory), facts)
        except OSError as error:
            self.discard(directory)
            raise self._unusable("kept", error) from error

    def discard(self, directory: Path) -> None:
        """Take back the directory of a job that could not be started; its id stays used."""
        # One whose file system does not answer is removed by a later listing, as it has no record.
        with contextlib.suppress(StateDirectoryError):
            self._remove(directory)

    @answered()
    def _remove(self, directory: Path) -> None:
        shutil.rmtree(directory, ignore_errors=True)

    def _unusable(self, what: str, error: OSError) -> JobError:
        return JobError(
            f"no job can be {what} in {self.root}: {error.strerror}; set NACRE_HOME to a directory that can be used"
        )

    @answered(whole=True)
    def list(self) -> Listing:
        """Return every job, oldest first; those whose runner died are settled on the way.

        Raises:
            JobError: the directory cannot be read.
        """
        try:
            numbers = sorted(numbers_in(os.listdir(self.root)))
        except FileNotFoundError:
            return Listing((), ())
        except OSError as error:
            raise self._unusable("listed", error) from error
        jobs: list[Job] = []
        damaged: list[str] = []
        for number in numbers:
            directory = self.root / f"{PREFIX}{number}"
            try:
                job = read_job(directory)
            except (OSError, ValueError) as error:
                damaged.append(f"{directory.name}: {_damage(error)}")
            else:
                if job is not None:
                    jobs.append(job)
        return Listing(tuple(jobs), tuple(damaged))

    @answered()
    def get(self, job_id: str) -> Job:
        """Return a job.

        Raises:
            UnknownJobError: no job has that id.
            JobError: its record cannot be read.
        """
        if DIRECTORY.match(job_id):
            try:
                job = read_job(self.root / job_id)
            except NotADirectoryError as error:
                raise self._unusable("read", error) from error
            except (OSError, ValueError) as error:
                raise JobError(f"job {job_id}: {_damage(error)}") from error
            if job is not None:
                return job
        raise UnknownJobError(job_id, [job.id for job in self.list().jobs])

    def stop(self, job_id: str) -> Job:
        """Have the job's runner stop everything of it; a job that has ended is returned as it is."""
        job = self.get(job_id)
        if job.running:
            runner = job.record.get("runnerPid")
            if job.note is None and isinstance(runner, int):
                _signal(runner, job.record.get("runnerStart"), record.STOP_SIGNAL)
            elif job.record["pid"]:
                # Its processes are told by the session that its shell leads.
                started = {pid: children.start_time(pid) for pid in children.session_and_below(job.record["pid"])}
                if started[job.record["pid"]] == job.record.get("pidStart"):
                    for pid, start in started.items():
                        _signal(pid, start, signal.SIGKILL)
        return job

    def prune_seldom(self, *, max_age_seconds: float) -> None:
        """Forget old jobs on the way, but seldom, because every record is read."""
        now = time.monotonic()
        if now >= self._prune_at:
            self._prune_at = now + PRUNE_SECONDS
            # A directory that cannot be listed holds nothing that could be removed.
            with contextlib.suppress(JobError, StateDirectoryError):
                self.prune(max_age_seconds=max_age_seconds)

    @answered(whole=True)
    def prune(self, *, max_age_seconds: float) -> int:
        """Forget jobs that ended longer ago than this; returns how many."""
        removed = 0
        for job in self.list().jobs:
            ended = job.record.get("endedAt")
            if not job.running and isinstance(ended, int | float) and time.time() - ended > max_age_seconds:
                shutil.rmtree(job.directory, ignore_errors=True)
                removed += 1
        return removed


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[tuple[int, bool]]:
    """Open a file; gives its descriptor, and whether its lock could be had in time."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        yield fd, _try_lock(fd, time.monotonic() + LOCK_SECONDS)
    finally:
        # A copy in a child that was forked meanwhile would hold the lock for as long as the child lives.
        fcntl.flock(fd, fcntl.LOCK_UN)
        os.close(fd)


def _try_lock(fd: int, deadline: float) -> bool:
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(LOCK_POLL_SECONDS)
        else:
            return True


def _damage(error: OSError | ValueError) -> str:
    return f"its record cannot be read: {error.strerror}" if isinstance(error, OSError) else f"its record {error}"


def _signal(pid: int, start: int | None, number: int) -> None:
    if not children.has_own_proc():
        raise JobError("jobs cannot be stopped from here: /proc is that of another pid namespace")
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        # Compared after the handle was taken, so the process cannot change under it.
        if children.start_time(pid) == start:
            signal.pidfd_send_signal(handle, number)
    except ProcessLookupError:
        return
    finally:
        os.close(handle)
