"""What sees the terminal of a call in the foreground while it runs, and types into it."""

from __future__ import annotations

from typing import Protocol

from nacre.jobs.job import Job
from nacre.kept_command import Waiting


class Attendant(Protocol):
    """A person's own terminal, or a program: prompts are answered there, so that the call goes on in the foreground.

    Called on the event loop's thread. The program on the terminal does not get far ahead of what is shown.
    """

    @property
    def room(self) -> bool:
        """Whether it takes more output now."""

    @property
    def pace(self) -> float:
        """Seconds until it wants to be shown what is new."""

    def opened(self, job: Job) -> None:
        """The command runs on the terminal of this job, as long as the call does."""

    def show(self, data: bytes) -> None:
        """Output, raw and without hidden values."""

    def asks(self, waiting: Waiting | None) -> None:
        """The command has begun to wait for input, or waits no more."""

    async def drained(self) -> bool:
        """Wait until there is room; False if that does not come."""
