"""Writes to the stdin of a job that kept it open: a named pipe in its directory, made by whoever started it so."""

from __future__ import annotations

import errno
import os
import stat

from nacre.errors import JobError
from nacre.jobs.status import outcome_of
from nacre.jobs.table import Job

NAME = "stdin"


def write_to(job: Job, data: bytes) -> None:
    """Write all of it, without waiting.

    Raises:
        JobError: the job has no open stdin, or does not read it; says how much was written.
    """
    if not job.running:
        raise JobError(f"{job.id} has ended ({outcome_of(job)}); nothing reads its stdin any more")
    try:
        fd = os.open(job.directory / NAME, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise JobError(f"{job.id} has closed its stdin; nothing was written") from error
        raise JobError(f"{job.id}: stdin is closed; start the command with pty: true to keep it open") from error
    try:
        if not stat.S_ISFIFO(os.fstat(fd).st_mode):
            raise JobError(f"{job.id}: stdin is closed; start the command with pty: true to keep it open")
        _write(job, fd, data)
    finally:
        os.close(fd)


def _write(job: Job, fd: int, data: bytes) -> None:
    written = 0
    while written < len(data):
        try:
            written += os.write(fd, data[written:])
        except BlockingIOError as error:
            raise JobError(
                f"{job.id} does not read its stdin: {written} of {len(data)} bytes were written; "
                "wait until it reads, then write the rest"
            ) from error
        except BrokenPipeError as error:
            raise JobError(f"{job.id} closed its stdin after {written} of {len(data)} bytes") from error
