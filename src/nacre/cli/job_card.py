"""The card of a job, with the end of its output; and the progress of one that is waited for."""

from __future__ import annotations

import sys

from nacre.cli.card_printing import card_of_entry
from nacre.cli.progress import Progress, wants_progress
from nacre.feed.card import Card
from nacre.jobs.job import Job
from nacre.jobs.output_file import JobFile
from nacre.output.decode import decode, trim_tail
from nacre.output.escapes import strip
from nacre.result import SIGNAL_BASE

# What a card shows at most is read of the end of a log.
TAIL_BYTES = 64 * 1024
# What is counted of a log at one look; a faster one is counted later.
COUNTED_BYTES = 4 * 1024 * 1024


def card_of(job: Job) -> Card:
    """Return the card of a job."""
    found = job.record
    card = card_of_entry({**found, "outcome": None, "time": found.get("startedAt")})
    card.job_id = job.id
    if not job.running:
        card.outcome, card.exit_code, card.ended = job.outcome, found.get("exitCode"), found.get("endedAt")
        if job.outcome == "signalled":
            card.exit_code = SIGNAL_BASE + int(found["signal"])
    with JobFile.open(job) as file:
        # A completion line says what the card says.
        end = min(file.end, found.get("outputBytes", file.end)) if card.outcome is not None else file.end
        start = max(0, end - TAIL_BYTES)
        card.tail.add(strip(decode(trim_tail(file.read(start, end - start).data))), dropped_bytes=start)
    return card


class JobProgress:
    """The line about a job that is waited for; nothing where there is no terminal."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._progress = Progress(sys.stderr, since=job.record.get("startedAt")) if wants_progress(sys.stderr) else None
        self._offset = 0

    def look(self) -> None:
        """Count what the job has written, and draw the line."""
        if self._progress is None:
            return
        with JobFile.open(self._job) as file:
            piece = file.read(self._offset, COUNTED_BYTES)
            self._progress.size += piece.skipped_bytes
            self._progress.count(piece.data)
            self._offset = max(self._offset, piece.end)
        self._progress.draw()

    def close(self) -> None:
        if self._progress is not None:
            self._progress.erase()
