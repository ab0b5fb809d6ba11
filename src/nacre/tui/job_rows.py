"""A job as one row of a list: how it stands, for how long, its command. Pure but for the clock."""

from __future__ import annotations

import time

from rich.text import Text

from nacre.jobs.job import Job
from nacre.kept_command import Waiting
from nacre.tui.job_words import job_state

STATE_COLUMNS = 9
# By how a job stands: the sign of its card, and a variable of the theme.
_LOOKS = {
    "running": ("●", "$primary"),
    "waiting": ("▸", "$warning"),
    "succeeded": ("✓", "$success"),
    "stopped": ("■", "$secondary"),
    "failed": ("✗", "$error"),
}


def standing(job: Job, waiting: Waiting | None = None) -> str:
    """Return how a job stands, as one of a few words that colours and signs belong to."""
    if job.running:
        return "running" if waiting is None else "waiting"
    if job.outcome == "exited":
        return "failed" if job.record["exitCode"] else "succeeded"
    return "stopped" if job.outcome == "stopped" else "failed"


def job_row(job: Job, waiting: Waiting | None, colours: dict[str, str]) -> Text:
    """Return the row of a job.

    Args:
        waiting: the input that it waits for, if it does.
        colours: of the theme, by variable.
    """
    record = job.record
    seconds = (record.get("endedAt") or time.time()) - record.get("startedAt", time.time())
    sign, variable = _LOOKS[standing(job, waiting)]
    colour = colours.get(variable[1:], "")
    state = "waits" if waiting is not None else job_state(job)
    line = Text(no_wrap=True, overflow="ellipsis")
    line.append(f"{sign} {job.id:<6}", f"bold {colour}")
    line.append(f"{state:<{STATE_COLUMNS}} ", colour)
    line.append(f"{_age(seconds):>6}  ", "dim")
    line.append(" ".join(str(record.get("command", "")).split()))
    return line


def _age(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
