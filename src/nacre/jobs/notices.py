"""Tells once that a job has ended: once per state directory, however many nacres watch it.

The nacre that makes the marker in the job's directory delivers; the file system decides between two. One that dies
between making it and delivering has lost the notice, not the job.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Iterator

from nacre.artifacts.excerpt import view
from nacre.artifacts.stored import Stored
from nacre.errors import JobError
from nacre.jobs.job import PREFIX, Job, numbers_in
from nacre.jobs.liveness import RunnerLock
from nacre.jobs.output_file import JobFile
from nacre.jobs.polling import is_waited_for
from nacre.jobs.status import headline
from nacre.jobs.table import JobTable
from nacre.output.decode import decode, trim_head, trim_tail
from nacre.state_directory import StateDirectoryError, files
from nacre.warden import record
from nacre.warden.refusals import words_about

MARKER = "delivered"
# The most that is told in full; a longer output is told by its beginning and end, where errors and summaries are.
INLINE_CHARACTERS = 12_000
HEAD_BYTES = 3_000
TAIL_BYTES = 1_000
TICK_SECONDS = 0.1


def claim(job: Job) -> bool:
    """Take the delivery of a job's end; False when another nacre has it, or when it cannot be taken now."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        job.files.call(_make, os.path.join(job.directory, MARKER), flags)
    except OSError:
        return False
    return True


def give_back(job: Job) -> None:
    """Leave the delivery of a job's end, which this process had taken, to any nacre."""
    job.files.call(os.unlink, os.path.join(job.directory, MARKER))


def is_claimed(job: Job) -> bool:
    """True if a nacre has taken the delivery; raises StateDirectoryError."""
    return job.files.call(os.path.lexists, os.path.join(job.directory, MARKER))


def _make(path: str, flags: int) -> None:
    os.close(os.open(path, flags, 0o600))


def text_of(job: Job) -> str:
    """Return what is told about a job: how it ended and its output."""
    return f"Background job {headline(job)}\n{output_of(job)}"


def output_of(job: Job, most: int = INLINE_CHARACTERS) -> str:
    """Return a job's output up to `most` characters, else its beginning, its end and how to read the rest."""
    try:
        file = JobFile.open(job)
    except JobError as error:
        return f"[{error}]"
    with file:
        end = _end_of(job, file)
        told = [job.record.get(name) for name in ("hiddenFailure", "stillRunning")]
        told.append(words_about(job.record.get("refusedHosts", ())))
        notices = "".join(f"\n[{notice}]" for notice in (*file.notices, *filter(None, told)))
        if not end:
            return f"(no output){notices}"
        if len(file.extents) == 1 and end <= most * 4:
            text = view(decode(file.read(0, end).data))
            if len(text) <= most:
                return (text.rstrip("\n") or "(no output)") + notices
        return (
            _both_ends(job, file, end, head=min(HEAD_BYTES, most * 3 // 4), tail=min(TAIL_BYTES, most // 4)) + notices
        )


def _end_of(job: Job, file: Stored) -> int:
    """Return the end of the output without the completion line, which the headline repeats."""
    written = job.record.get("outputBytes")
    return min(file.end, written) if isinstance(written, int) else file.end


def _both_ends(job: Job, file: Stored, end: int, *, head: int, tail: int) -> str:
    first = trim_head(file.read(0, head).data)
    start = max(len(first), end - tail, *file.gaps())
    newest = file.read(start, end - start)
    last = trim_tail(newest.data)
    omitted = newest.end - len(last) - len(first)
    return (
        f"{view(decode(first)).rstrip()}\n"
        f'[… {omitted} bytes omitted; read them with job {{"read": "{job.id}", "offset": {len(first)}}} …]\n'
        f"{view(decode(last)).strip()}"
    )


async def completions(table: JobTable, wanted: Callable[[Job], bool]) -> AsyncGenerator[Job, None]:
    """Yield each job that has ended, once in all, as it ends; those that ended unnoticed before come first.

    `wanted` is called again until it returns true. A job that a poll in this process waits for is held back meanwhile:
    the poll's caller gets the result, and claims it. Close the generator to stop early: it holds one descriptor per
    running job.
    """
    running: dict[str, RunnerLock] = {}
    ended: dict[str, Job | None] = {}
    try:
        while True:
            try:
                for job in _fresh(table, running, ended, wanted):
                    yield job
            except StateDirectoryError:
                # The locks are those of a process that is gone; the jobs are looked at again when another answers.
                running.clear()
            await asyncio.sleep(TICK_SECONDS)
    finally:
        for lock in running.values():
            lock.close()


def _fresh(
    table: JobTable,
    running: dict[str, RunnerLock],
    ended: dict[str, Job | None],
    wanted: Callable[[Job], bool],
) -> Iterator[Job]:
    """Yield the jobs that have ended since the last look and whose delivery is ours."""
    names = _names(table)
    for gone in (running.keys() | ended.keys()) - set(names):
        ended.pop(gone, None)
        if gone in running:
            running.pop(gone).close()
    for name in names:
        if name in running and running[name].held():
            continue
        if name not in ended:
            _look(table, name, running, ended)
        job = ended.get(name)
        if job is not None and not is_waited_for(job) and wanted(job):
            if claim(job):
                yield job
            if is_claimed(job):
                ended[name] = None


def _names(table: JobTable) -> list[str]:
    """Return the names of all jobs, oldest first; no record is read."""
    root = str(table.root)
    try:
        numbers = numbers_in(files(root).call(os.listdir, root))
    except StateDirectoryError:
        raise
    except OSError:
        # Not made yet, or not usable now: a job that is started there says so.
        return []
    return [f"{PREFIX}{number}" for number in sorted(numbers)]


def _look(table: JobTable, name: str, running: dict[str, RunnerLock], ended: dict[str, Job | None]) -> None:
    """Find out how a job stands, and remember it."""
    root = str(table.root)
    if not files(root).call(os.path.exists, os.path.join(root, name, record.RECORD)):
        # Not born yet: looked at again at the next turn.
        return
    try:
        job = table.get(name)
    except JobError:
        # Damaged: it is left alone, and how it ended cannot be told.
        ended[name] = None
        return
    if job.running:
        if name not in running:
            running[name] = RunnerLock(job)
        return
    if name in running:
        running.pop(name).close()
    ended[name] = None if is_claimed(job) else job
