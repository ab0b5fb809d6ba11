"""Whether a job's runner still answers for it: a lock that is tried, which costs a microsecond; nothing is read."""

from __future__ import annotations

import contextlib
import os

from nacre.jobs.job import Job, is_locked
from nacre.state_directory import HERE, StateDirectoryError
from nacre.warden import record


class RunnerLock:
    """The lock that a job's runner holds until the final status is on disk."""

    __slots__ = ("_fd", "_files")

    def __init__(self, job: Job) -> None:
        self._files = HERE
        try:
            self._files = job.files
            self._fd = self._files.call(record.open_regular, os.path.join(job.directory, record.LOCK), os.O_RDONLY)
        except OSError:
            # Gone with the job, or not ours to open: then the record must be read each time.
            self._fd = -1

    def held(self) -> bool:
        """True while a runner answers for the job; raises StateDirectoryError."""
        return self._fd >= 0 and self._files.call(is_locked, self._fd)

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            # One whose file system does not answer is closed with the process that holds it.
            with contextlib.suppress(StateDirectoryError):
                self._files.call(os.close, fd)
