"""A job as it is on disk, and what became of one whose runner is gone.

A job is identified by its runner's lock and by (pid, start time, boot id), never by a pid alone.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nacre.state_directory import Files, files
from nacre.warden import ledger, record

PREFIX = "bg_"
DIRECTORY = re.compile(rf"{PREFIX}([1-9]\d*)\Z")
# A directory whose runner has not written a record by now never will: its caller died in between.
UNBORN_SECONDS = 60.0

_FACTS = ("id", "command", "state", "exitCode", "signal", "pid", "outputFile", "startedAt", "endedAt")


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

    @property
    def files(self) -> Files:
        """What makes the calls on its files; raises StateDirectoryError."""
        return files(str(self.directory.parent))

    def facts(self) -> dict[str, Any]:
        """The public facts, in the shape of `nacre jobs show --json`."""
        facts = {key: self.record.get(key) for key in _FACTS}
        facts["state"] = self.outcome
        facts["outputFile"] = str(self.output_file)
        facts["signal"] = self.record.get("signalName")
        if self.note:
            facts["note"] = self.note
        return facts


@dataclass(frozen=True, slots=True)
class Listing:
    """The jobs of a state directory."""

    jobs: tuple[Job, ...]
    damaged: tuple[str, ...]
    """Records that could not be read, in words; nothing is done to them."""


def numbers_in(names: Iterable[str]) -> list[int]:
    """Return the numbers of the jobs that have these names."""
    return [int(match[1]) for name in names if (match := DIRECTORY.match(name))]


def read_job(directory: Path) -> Job | None:
    """Return the job of a directory, settled if its runner died; None where there is none.

    Raises:
        OSError: the record cannot be read.
        ValueError: it is damaged or foreign.
    """
    found = record.read(str(directory))
    if found is None:
        if _is_unborn(directory):
            shutil.rmtree(directory, ignore_errors=True)
        return None
    if found["state"] != "running" and found.get("closed"):
        return Job(directory, found)
    try:
        lock = record.lock(str(directory))
    except BlockingIOError:
        return Job(directory, found)
    try:
        # No runner answers for it any more. Another nacre may have settled it between our two looks.
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
            # Its runner may have had the same error, and not have been killed at all.
            reason = f"lost: its end could not be recorded: {error.strerror}"
            return Job(directory, found | {"reason": f"{reason}; its exit status is unknown"})
    problem = None if found.get("closed") else record.finish(str(directory), found, recovering=True)
    return Job(directory, found, problem)


def is_answered_for(directory: Path) -> bool:
    """True if a runner holds the job's lock, or will in a moment: its caller has allotted the id and starts it now."""
    if not (directory / record.RECORD).exists():
        # The lock of one that is being born is its runner's to take; trying it could come in between.
        return not _is_unborn(directory)
    try:
        fd = record.open_regular(os.path.join(directory, record.LOCK), os.O_RDONLY)
    except OSError:
        return False
    try:
        return is_locked(fd)
    finally:
        os.close(fd)


def is_locked(fd: int) -> bool:
    """True if another process holds the lock of this file; nothing is read, so that costs a microsecond."""
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    # The process that settles the job now wants it alone.
    fcntl.flock(fd, fcntl.LOCK_UN)
    return False


def _is_unborn(directory: Path) -> bool:
    """True if a directory without a record will never have one, or is gone."""
    try:
        return time.time() - directory.stat().st_mtime > UNBORN_SECONDS
    except OSError:
        return True
