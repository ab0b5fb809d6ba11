"""What is typed into the terminal of a job from an event loop: in order, and never lost because the program is slow."""

from __future__ import annotations

import asyncio

from nacre.errors import JobError
from nacre.jobs import job_terminal
from nacre.jobs.job import Job

# One message; a slow program takes a long paste in pieces.
PIECE_BYTES = 4096
# How soon what a program does not read is tried again.
AGAIN_SECONDS = 0.02
# More than this is not taken from a person's keyboard before the program reads.
MOST_UNREAD_BYTES = 64 * 1024


class TypedInput:
    """The input of one job."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._unread = b""
        self._again: asyncio.TimerHandle | None = None

    @property
    def is_full(self) -> bool:
        return len(self._unread) >= MOST_UNREAD_BYTES

    def type(self, data: bytes) -> None:
        """Type now, or as soon as the program reads; what is typed after its end is dropped."""
        self._unread += data
        if self._again is None:
            self._send()

    def _send(self) -> None:
        self._again = None
        try:
            while self._unread:
                job_terminal.write(self._job, self._unread[:PIECE_BYTES], settled=False)
                self._unread = self._unread[PIECE_BYTES:]
        except job_terminal.UnreadInputError:
            self._again = asyncio.get_running_loop().call_later(AGAIN_SECONDS, self._send)
        except JobError:
            self._unread = b""  # it has ended, and its end is told elsewhere

    def close(self) -> None:
        self._unread = b""
        if self._again is not None:
            self._again.cancel()
            self._again = None
