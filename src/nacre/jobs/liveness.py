"""Whether a job's runner still answers for it: a lock that is tried, which costs a microsecond; nothing is read."""

from __future__ import annotations

import fcntl
import os

from nacre.jobs.table import Job
from nacre.warden import record


class RunnerLock:
    """The lock that a job's runner holds until the final status is on disk."""

    __slots__ = ("_fd",)

    def __init__(self, job: Job) -> None:
        try:
            self._fd = record.open_regular(os.path.join(job.directory, record.LOCK), os.O_RDONLY)
        except OSError:
            # Gone with the job, or not ours to open: then the record must be asked each time.
            self._fd = -1

    def held(self) -> bool:
        if self._fd < 0:
            return False
        try:
            fcntl.flock(self._fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        # Whoever settles the job now wants it alone.
        fcntl.flock(self._fd, fcntl.LOCK_UN)
        return False

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
