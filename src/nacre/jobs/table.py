"""The jobs of a state directory: ids, listing, and what became of those whose runner is gone.

The directory is the truth: any nacre on it sees the same jobs. Ids are allotted under a lock; a job is identified by
its runner's lock and by (pid, start time, boot id), never by a pid alone.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nacre.errors import JobError, JobLimitError, UnknownJobError
from nacre.warden import children, ledger, record

PREFIX = "bg_"
_DIRECTORY = re.compile(rf"{PREFIX}([1-9]\d*)\Z")
# A directory whose runner has not written a record by now never will: its caller died in between.
UNBORN_SECONDS = 60.0

# How long old jobs may stay before they are looked for again.
PRUNE_SECONDS = 600.0

# A stopped process may hold the counter's lock for ever; a call does not wait for it.
LOCK_SECONDS = 0.25
LOCK_POLL_SECONDS = 0.001

# The last number that this process has allotted, by directory: one that is removed in use does not start again.
_LAST: dict[str, int] = {}


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it is on disk now."""

    directory: Path
    record: dict[str, Any]
    note: str | None = None
    """What a reader should know beyond the record."""

    @property
    def id(self) -> str:
        return str(self.record["id"])

    @property
    def state(self) -> str:
        return str(self.record["state"])

    @property
    def outcome(self) -> str:
        """`running`, or how it ended, as every surface spells it; the record keeps the spelling of its version."""
        return record.OUTCOMES.get(self.state, self.state)

    @property
    def running(self) -> bool:
        return self.state == "running"

    @property
    def output_file(self) -> Path:
        return self.directory / record.OUTPUT

    def facts(self) -> dict[str, Any]:
        """The public facts, in the shape of `nacre jobs show --json`."""
        keys = ("id", "command", "state", "exitCode", "signal", "pid", "outputFile", "startedAt", "endedAt")
        facts = {key: self.record.get(key) for key in keys}
        facts["state"] = self.outcome
        facts["outputFile"] = str(self.output_file)
        facts["signal"] = self.record.get("signalName")
        if self.note:
            facts["note"] = self.note
        return facts


@dataclass(frozen=True, slots=True)
class Listing:
    jobs: tuple[Job, ...]
    damaged: tuple[str, ...]
    """Records that could not be read, in words; nothing is done to them."""


class JobTable:
    def __init__(self, state_dir: str | os.PathLike[str]) -> None:
        self.root = Path(state_dir, "jobs")
        self._prune_at = 0.0
        self._ended: set[int] = set()
        """Jobs that were found to have ended: none of them ever runs again."""

    def allot(self, *, most: int | None = None, notices: list[str] | None = None) -> tuple[str, Path]:
        """A new id and its empty directory, unique on this state directory.

        Args:
            notices: takes what the caller should know of a degraded start.

        Raises:
            JobLimitError: as many as `most` run already.
        """
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _locked(self.root / ".last") as (counter, locked):
                if not locked and notices is not None:
                    notices.append(
                        f"the counter of jobs in {self.root} is locked by another process, which may be stopped; "
                        "the limit of jobs was not exact"
                    )
                numbers = self._numbers()
                if most is not None and len(numbers) >= most:
                    self._refuse_beyond(most, numbers)
                last = max([_number(counter), _LAST.get(str(self.root), 0), *numbers])
                if last == 0:
                    # A new directory, or one that was deleted while jobs of it live.
                    last = max([0, *_numbers_in(record.claimed(str(self.root)))])
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
        return directory.name, directory

    def _refuse_beyond(self, most: int, numbers: list[int]) -> None:
        # Asked of the locks, which costs microseconds each; a record takes ten times as long to read.
        asked = sorted(set(numbers) - self._ended)
        live = [number for number in asked if _answered_for(self.root / f"{PREFIX}{number}")]
        self._ended |= set(asked) - set(live)
        if len(live) >= most:
            names = ", ".join(f"{PREFIX}{number}" for number in live)
            running = "1 job runs" if len(live) == 1 else f"{len(live)} jobs run"
            raise JobLimitError(f"{running} already (setting jobs.max_jobs): {names}; stop one")

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
        shutil.rmtree(directory, ignore_errors=True)

    def _unusable(self, what: str, error: OSError) -> JobError:
        return JobError(
            f"no job can be {what} in {self.root}: {error.strerror}; set NACRE_HOME to a directory that can be used"
        )

    def _numbers(self) -> list[int]:
        return _numbers_in(os.listdir(self.root))

    def list(self) -> Listing:
        """Every job, oldest first; those whose runner died are settled on the way.

        Raises:
            JobError: the directory cannot be read.
        """
        try:
            numbers = sorted(self._numbers())
        except FileNotFoundError:
            return Listing((), ())
        except OSError as error:
            raise self._unusable("listed", error) from error
        jobs: list[Job] = []
        damaged: list[str] = []
        for number in numbers:
            directory = self.root / f"{PREFIX}{number}"
            try:
                job = _read(directory)
            except (OSError, ValueError) as error:
                damaged.append(f"{directory.name}: {_damage(error)}")
            else:
                if job is not None:
                    jobs.append(job)
        return Listing(tuple(jobs), tuple(damaged))

    def get(self, job_id: str) -> Job:
        if _DIRECTORY.match(job_id):
            try:
                job = _read(self.root / job_id)
            except NotADirectoryError as error:
                raise self._unusable("read", error) from error
            except (OSError, ValueError) as error:
                raise JobError(f"job {job_id}: {_damage(error)}") from error
            if job is not None:
                return job
        raise UnknownJobError(job_id, [job.id for job in self.list().jobs])

    def stop(self, job_id: str) -> Job:
        """Ask the job's runner to stop everything of it; a job that has ended is returned as it is."""
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
            with contextlib.suppress(JobError):
                self.prune(max_age_seconds=max_age_seconds)

    def prune(self, *, max_age_seconds: float) -> int:
        """Forget jobs that ended longer ago than this."""
        removed = 0
        for job in self.list().jobs:
            ended = job.record.get("endedAt")
            if not job.running and isinstance(ended, int | float) and time.time() - ended > max_age_seconds:
                shutil.rmtree(job.directory, ignore_errors=True)
                removed += 1
        return removed


def _numbers_in(names: Iterable[str]) -> list[int]:
    return [int(match[1]) for name in names if (match := _DIRECTORY.match(name))]


def _answered_for(directory: Path) -> bool:
    """Whether a runner holds the job's lock, or will in a moment: its caller has allotted it and starts it now."""
    if not (directory / record.RECORD).exists():
        # The lock of one that is being born is its runner's to take; trying it could come in between.
        return not _is_unborn(directory)
    try:
        fd = record.open_regular(os.path.join(directory, record.LOCK), os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def _number(counter: int) -> int:
    text = os.pread(counter, 32, 0).strip()
    return int(text) if text.isdigit() else 0


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[tuple[int, bool]]:
    """The opened file, and whether its lock could be had in time."""
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


def _read(directory: Path) -> Job | None:
    found = record.read(str(directory))
    if found is None:
        _remove_unborn(directory)
        return None
    if found["state"] != "running" and found.get("closed"):
        return Job(directory, found)
    try:
        lock = record.lock(str(directory))
    except BlockingIOError:
        return Job(directory, found)
    try:
        # Nobody answers for it any more. It may have been settled between our two looks.
        return _settle(directory, record.read(str(directory)) or found)
    finally:
        os.close(lock)


def _settle(directory: Path, found: dict[str, Any]) -> Job:
    if found["state"] == "running":
        if ledger.is_alive(found):
            return Job(directory, found, "its runner is gone; it runs on, but its exit status will be unknown")
        found |= ledger.lost_state(str(directory), found)
        try:
            record.write(str(directory), found)
        except OSError as error:
            # Its runner may have met the same, and not have been killed at all.
            reason = f"lost: its end could not be recorded: {error.strerror}"
            return Job(directory, found | {"reason": f"{reason}; its exit status is unknown"})
    problem = None if found.get("closed") else record.finish(str(directory), found, recovering=True)
    return Job(directory, found, problem)


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


def _is_unborn(directory: Path) -> bool:
    """Whether a directory without a record will never have one; true of one that is gone, too."""
    try:
        return time.time() - directory.stat().st_mtime > UNBORN_SECONDS
    except OSError:
        return True


def _remove_unborn(directory: Path) -> None:
    if _is_unborn(directory):
        shutil.rmtree(directory, ignore_errors=True)
