"""The jobs of a state directory as events: their output comes from their files, their end from their records."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from typing import Any

from nacre.errors import JobError
from nacre.feed.shown_call import TAIL_BYTES, VERSION, FeedEvent
from nacre.feed.shown_text import ShownText
from nacre.jobs.job import PREFIX, Job, numbers_in
from nacre.jobs.job_terminal import has_terminal, state, write
from nacre.jobs.liveness import RunnerLock
from nacre.jobs.output_file import JobFile
from nacre.jobs.table import JobTable
from nacre.kept_command import Waiting
from nacre.output.redaction.redactor import Redactor
from nacre.state_directory import StateDirectoryError, files
from nacre.warden import record

# How often jobs are looked for that no program told of.
LIST_SECONDS = 0.5


class FollowedJob:
    """A job that runs, read on from where its viewer is."""

    def __init__(self, job: Job, common: FeedEvent, offset: int, redactor: Redactor | None) -> None:
        self.id = job.id
        self._job = job
        self._asked: Waiting | None = None
        self.common = common
        self._redactor = redactor
        self._lock = RunnerLock(job)
        self._files = job.files
        self._file = job.output_file
        self._offset = offset
        self._text = ShownText(redactor)

    def read(self, table: JobTable) -> tuple[list[FeedEvent], bool]:
        """Return what is new, and whether the job has ended."""
        over = not self._lock.held()
        try:
            job = table.get(self.id)
        except JobError:
            # Forgotten with its directory: its end is not known any more.
            return [self._event("end", outcome="lost", error="the record of the job is gone", jobId=self.id)], True
        over = over and not job.running
        events = self._output(job, final=over)
        if over:
            events.append(self._event("end", **end_facts(job)))
        return events, over

    def grown(self) -> bool:
        """True if there is something to read: a cheap look."""
        try:
            return self._files.call(os.stat, self._file).st_size > self._offset
        except OSError:
            return False

    def ended(self) -> bool:
        return not self._lock.held()

    def asks(self) -> Waiting | None:
        """Return what the job waits for now."""
        found = state(self._job) if has_terminal(self._job) else None
        return None if found is None else found.waiting

    def waiting(self, asked: Waiting | None, *, wrote: bool) -> FeedEvent | None:
        """Return that the job has begun or ceased to wait for input; None if neither.

        Args:
            wrote: output was told since, which ends a wait for every viewer.
        """
        if asked == self._asked and not (wrote and asked is not None):
            return None
        self._asked = asked
        return self._event("waiting", prompt=asked and asked.prompt, hidden=asked is not None and asked.hidden)

    def _output(self, job: Job, *, final: bool) -> list[FeedEvent]:
        try:
            stored = JobFile.open(job)
        except JobError as error:
            return [self._event("output", text="", error=str(error))] if final else []
        dropped, text = 0, ""
        with stored:
            # The completion line says what the end says.
            end = min(stored.end, job.record.get("outputBytes", stored.end)) if final else stored.end
            start = self._offset
            if end - start > TAIL_BYTES:
                dropped, start = end - TAIL_BYTES - start, end - TAIL_BYTES
                self._text = ShownText(self._redactor)
            while start < end:
                piece = stored.read(start, end - start)
                if not piece.data:
                    break
                dropped += piece.skipped_bytes
                text += self._text.feed(piece.data)
                start = piece.end
            self._offset = max(self._offset, end)
        if final:
            text += self._text.feed(b"", final=True)
        if not text and not dropped:
            return []
        event = self._event("output", text=text)
        return [event | {"droppedBytes": dropped} if dropped else event]

    def _event(self, kind: str, **facts: Any) -> FeedEvent:
        return {"v": VERSION, "time": time.time(), "event": kind, **self.common, **facts}

    def close(self) -> None:
        self._lock.close()


def end_facts(job: Job) -> dict[str, Any]:
    """Return the facts of a job's end, named as in the log."""
    entry = record.end_entry(job.record)
    facts = {name: entry.get(name) for name in ("outcome", "exitCode", "durationMs", "stdoutBytes", "jobId")}
    for name in ("error", "notices", "survivors"):
        if entry.get(name):
            facts[name] = entry[name]
    return facts


class FollowedJobs:
    """The running jobs that one viewer follows."""

    def __init__(self, state_dir: str, redactor: Redactor | None) -> None:
        self._table = JobTable(state_dir)
        self._redactor = redactor
        self._jobs: dict[str, FollowedJob] = {}
        self._known: set[str] = set()
        self._list_at = 0.0

    def take_over(self, job_id: str, common: FeedEvent, offset: int) -> None:
        """Follow a job that a program has announced, from the byte that it named."""
        self._known.add(job_id)
        # Its directory may have been found before its program was heard.
        if (found := self._jobs.pop(job_id, None)) is not None:
            found.close()
        with contextlib.suppress(JobError):
            self._jobs[job_id] = FollowedJob(self._table.get(job_id), common, offset, self._redactor)

    def news(self, begun: set[str]) -> Iterator[FeedEvent]:
        """Return what has happened since the last time.

        Args:
            begun: calls whose program is about to tell that they became jobs.
        """
        try:
            yield from self._new(begun)
            for job_id, followed in list(self._jobs.items()):
                # Asked before the output is read, and told after it: the prompt itself is output.
                asked = followed.asks()
                events: list[FeedEvent] = []
                over = False
                if followed.ended() or followed.grown():
                    events, over = followed.read(self._table)
                    yield from events
                if over:
                    self._jobs.pop(job_id).close()
                elif (waiting := followed.waiting(asked, wrote=bool(events))) is not None:
                    yield waiting
        except (JobError, StateDirectoryError):
            return  # the directory does not answer, or is unusable: the next look may find it

    def _new(self, begun: set[str]) -> Iterator[FeedEvent]:
        """Return the beginnings of running jobs that no program told of."""
        if time.monotonic() < self._list_at:
            return
        self._list_at = time.monotonic() + LIST_SECONDS
        try:
            names = files(str(self._table.root)).call(os.listdir, self._table.root)
        except OSError:
            return  # no job was ever started here
        for number in sorted(numbers_in(names)):
            job_id = f"{PREFIX}{number}"
            if job_id in self._known:
                continue
            try:
                job = self._table.get(job_id)
            except JobError:
                continue  # its record is not written yet
            if job.record.get("call") in begun:
                continue
            self._known.add(job.id)
            if job.running:
                followed = self._jobs[job.id] = FollowedJob(job, common_of(job), 0, self._redactor)
                yield from _beginning(job, followed.common)

    @property
    def running(self) -> dict[str, str]:
        """The ids of the jobs that are followed, by call."""
        return {str(one.common["call"]): job_id for job_id, one in self._jobs.items()}

    def write(self, job_id: str, data: bytes) -> None:
        """Type into the terminal of a job; raises JobError."""
        write(self._table.get(job_id), data)

    def stop(self, job_id: str) -> None:
        """Stop a job; raises JobError."""
        self._table.stop(job_id)

    def close(self) -> None:
        for followed in self._jobs.values():
            followed.close()
        self._jobs.clear()


def common_of(job: Job) -> FeedEvent:
    """Return what every event of a job says."""
    found = job.record
    return {
        "call": found.get("call") or job.id,
        "surface": None,
        "session": found.get("session"),
        "project": found.get("project"),
        "directory": found.get("cwd"),
        "pid": found.get("ownerPid"),
    }


def _beginning(job: Job, common: FeedEvent) -> list[FeedEvent]:
    found = job.record
    now = {"v": VERSION, "time": time.time()}
    start = {name: found.get(name) for name in ("contract", "command", "cwd", "timeout", "startedAt")}
    if has_terminal(job):
        start["pty"] = True
    told = {"jobId": job.id, "jobPid": found.get("pid"), "offset": 0}
    return [now | {"event": "start"} | common | start, now | {"event": "job"} | common | told]
