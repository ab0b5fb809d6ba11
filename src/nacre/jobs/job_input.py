"""Writes to the stdin of a job that kept it open: a named pipe in its directory."""

from __future__ import annotations

import errno
import os
import stat

from nacre.errors import JobError
from nacre.jobs.job import Job
from nacre.jobs.status import outcome_of

NAME = "stdin"


def write_to(job: Job, data: bytes) -> None:
    """Write all of it, without waiting.

    Raises:
        JobError: the job has no open stdin, or does not read it; says how much was written.
    """
    if not job.running:
        raise JobError(f"{job.id} has ended ({outcome_of(job)}); nothing reads its stdin any more")
    job.files.call(_write, job.id, os.path.join(job.directory, NAME), data)


def _write(job_id: str, path: str, data: bytes) -> None:
    closed = f"{job_id}: stdin is closed; start the command with pty: true to keep it open"
    try:
        fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise JobError(f"{job_id} has closed its stdin; nothing was written") from error
        raise JobError(closed) from error
    written = 0
    try:
        if not stat.S_ISFIFO(os.fstat(fd).st_mode):
            raise JobError(closed)
        while written < len(data):
            written += os.write(fd, data[written:])
    except BlockingIOError as error:
        raise JobError(
            f"{job_id} does not read its stdin: {written} of {len(data)} bytes were written; "
            "wait until it reads, then write the rest"
        ) from error
    except BrokenPipeError as error:
        raise JobError(f"{job_id} closed its stdin after {written} of {len(data)} bytes") from error
    finally:
        os.close(fd)
