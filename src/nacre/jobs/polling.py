"""Waits until something happens to some jobs: one ends, a line appears, it is quiet, a port opens, a file exists.

Jobs of other processes are watched the same way as our own: by the lock of their runner and the size of their file. A
search for a line goes on where the last one stopped, over several polls, so nothing is read twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from nacre.errors import JobError
from nacre.jobs.job import Job
from nacre.jobs.job_terminal import has_terminal, state
from nacre.jobs.liveness import RunnerLock
from nacre.jobs.output_file import JobFile
from nacre.jobs.table import JobTable
from nacre.output.regex_watch import RegexWatch
from nacre.state_directory import StateDirectoryError
from nacre.until import Until, port_open
from nacre.warden_client.path_query import file_appears

# Soon enough for a model, rare enough for a hundred jobs.
TICK_SECONDS = 0.05
# How long a look for a file may take at the end of a poll.
LAST_LOOK_SECONDS = 0.5
# What is searched before others get their turn.
SLICE_BYTES = 64 * 1024
MOST_SCANS = 256
# What was written before the poll is searched for at least as long, even if the caller does not wait.
SEARCH_SECONDS = 2.0

# The jobs that polls in this process wait for, by directory: their callers are not told of the end by a notice as well.
_WAITED_FOR: Counter[str] = Counter()

Reason = Literal["ended", "matched", "port", "file", "quiet", "waiting", "wait"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Poll:
    """What a wait came to."""

    jobs: tuple[Job, ...]
    """Those that were watched, as they are now."""
    unknown: tuple[str, ...]
    """Ids that no job has, or whose record cannot be read."""
    reason: Reason
    by: str | None = None
    """The job that made it return, where it was one."""
    line: str | None = None
    """The line that matched."""


@dataclass(slots=True)
class Scan:
    """How far a job's output was searched for an expression."""

    watch: RegexWatch
    offset: int = 0


class Scans:
    """Remembers the searches of recent polls."""

    def __init__(self) -> None:
        self._scans: OrderedDict[tuple[str, str], Scan] = OrderedDict()

    def of(self, job: Job, regex: str) -> Scan:
        key = (str(job.directory), regex)
        scan = self._scans.get(key)
        if scan is None:
            scan = self._scans[key] = Scan(RegexWatch(regex))
            if len(self._scans) > MOST_SCANS:
                self._scans.popitem(last=False)
        self._scans.move_to_end(key)
        return scan


async def poll(
    table: JobTable,
    ids: Sequence[str],
    *,
    until: Until | None = None,
    wait: float = 30.0,
    scans: Scans | None = None,
) -> Poll:
    """Return when any of the jobs has ended, when the event has happened, or after `wait` seconds.

    A line that was found is not found again: the next poll with the same `scans` looks behind it.
    """
    watched: list[_Watched] = []
    unknown: list[str] = []
    try:
        for job_id in dict.fromkeys(ids):
            try:
                watched.append(_Watched(table, table.get(job_id)))
            except JobError:
                unknown.append(job_id)
        watch = _Watch(watched, until, Scans() if scans is None else scans, end=time.monotonic() + wait)
        reason, by = await watch.wait() if watched else ("ended", None)
        line = watch.line if reason == "matched" else None
        return Poll(jobs=tuple(one.job for one in watched), unknown=tuple(unknown), reason=reason, by=by, line=line)
    finally:
        for one in watched:
            one.close()


def is_waited_for(job: Job) -> bool:
    """Return whether a poll in this process is watching the job."""
    return str(job.directory) in _WAITED_FOR


class _Watched:
    """A job during a poll."""

    def __init__(self, table: JobTable, job: Job) -> None:
        self._table = table
        self.job = job
        self._lock = RunnerLock(job)
        self._size = -1
        self._changed = time.monotonic()
        _WAITED_FOR[str(job.directory)] += 1

    def ended(self) -> bool:
        if self.job.running and not self._lock.held():
            # One that was pruned has ended; what we know of it is all there is.
            with contextlib.suppress(JobError):
                self.job = self._table.get(self.job.id)
            if not self.job.files.call(os.path.exists, self.job.directory):
                return True
        return not self.job.running

    def waits(self) -> bool:
        """Return whether it waits for input on its terminal."""
        if not has_terminal(self.job):
            return False
        found = state(self.job)
        return found is not None and found.waiting is not None

    def grown(self) -> bool:
        """Return whether the output has changed since the last look."""
        try:
            found = self.job.files.call(os.stat, self.job.output_file)
        except StateDirectoryError:
            raise
        except OSError:
            return False
        if found.st_size == self._size:
            return False
        if self._size < 0:
            # It may have been quiet since long before this poll.
            self._changed = time.monotonic() - max(0.0, time.time() - found.st_mtime)
        else:
            self._changed = time.monotonic()
        self._size = found.st_size
        return True

    def quiet_for(self) -> float:
        self.grown()
        return time.monotonic() - self._changed

    def close(self) -> None:
        self._lock.close()
        name = str(self.job.directory)
        _WAITED_FOR[name] -= 1
        if not _WAITED_FOR[name]:
            del _WAITED_FOR[name]


class _Watch:
    def __init__(self, watched: list[_Watched], until: Until | None, scans: Scans, *, end: float) -> None:
        self._watched = watched
        self._until = until
        self._scans = scans
        self._end = end
        self._search_end = max(end, time.monotonic() + SEARCH_SECONDS)
        self.line: str | None = None
        self._files: dict[str, asyncio.Task[None]] = {}

    async def wait(self) -> tuple[Reason, str | None]:
        file = None if self._until is None else self._until.file
        if file is not None:
            for one in self._watched:
                path = os.path.join(one.job.record.get("cwd", "/"), file)
                self._files[one.job.id] = asyncio.create_task(file_appears(path))
        try:
            return await self._wait()
        finally:
            for task in self._files.values():
                task.cancel()
            if self._files:
                await asyncio.wait(self._files.values())

    async def _wait(self) -> tuple[Reason, str | None]:
        while True:
            # Asked before the output is searched, so that the last of it is searched too.
            ended = [one.job.id for one in self._watched if one.ended()]
            happened = await self._happened() if self._until is not None else None
            if happened is not None:
                return happened
            if ended:
                return "ended", ended[0]
            waits = [one.job.id for one in self._watched if one.waits()]
            if waits:
                return "waiting", waits[0]
            left = self._end - time.monotonic()
            if left <= 0:
                # A poll that does not wait takes the time for one look.
                return await self._last_look()
            await asyncio.sleep(min(TICK_SECONDS, left))

    async def _last_look(self) -> tuple[Reason, str | None]:
        if self._files:
            looks = self._files.values()
            await asyncio.wait(looks, timeout=LAST_LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            return await self._happened() or ("wait", None)
        return "wait", None

    async def _happened(self) -> tuple[Reason, str | None] | None:
        until = self._until
        assert until is not None
        if until.port is not None:
            return ("port", None) if await port_open(until.port) else None
        for one in self._watched:
            if until.regex is not None and await self._matches(one, until.regex):
                return "matched", one.job.id
            if until.file is not None and (looking := self._files[one.job.id]).done():
                looking.result()
                return "file", one.job.id
            if until.quiet is not None and one.quiet_for() >= until.quiet:
                return "quiet", one.job.id
        return None

    async def _matches(self, one: _Watched, regex: str) -> bool:
        scan = self._scans.of(one.job, regex)
        found = scan.watch.resume()
        if not found and one.grown():
            with JobFile.open(one.job) as file:
                # A file that was shortened is searched from its new end on.
                scan.offset = min(scan.offset, file.end)
                while not found and time.monotonic() < self._search_end:
                    piece = file.read(scan.offset, SLICE_BYTES)
                    if not piece.data:
                        break
                    scan.offset = piece.end
                    found = scan.watch.feed(piece.data)
                    await asyncio.sleep(0)
        elif not found:
            found = scan.watch.pause()
        if found:
            self.line = scan.watch.line
        return found
