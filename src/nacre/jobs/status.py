"""How a job stands, in the words and the fields that models read."""

from __future__ import annotations

import time
from typing import Any, Literal

from nacre.jobs.job import Job
from nacre.result import SIGNAL_BASE
from nacre.warden.record import spell_duration, spent, told_blame

# Enough to recognise a job in a list.
LABEL_CHARACTERS = 120

Status = Literal["running", "completed", "failed", "cancelled"]


def status_of(job: Job) -> Status:
    if job.running:
        return "running"
    if job.state == "exited" and job.record.get("exitCode") == 0:
        return "completed"
    return "cancelled" if job.state == "stopped" and spent(job.record) is None else "failed"


def outcome_of(job: Job) -> str:
    """How it ended, in a few words."""
    match job.state:
        case "running":
            return "running"
        case "exited":
            return f"exit code {job.record.get('exitCode')}"
        case "killed":
            number = job.record.get("signal")
            code = f" ({SIGNAL_BASE + number})" if isinstance(number, int) else ""
            return f"killed by {job.record.get('signalName')}{code}"
        case "timed_out":
            return f"timed out after {spell_duration(job.record.get('timeout') or 0)} and was killed"
        case "stopped":
            return f"stopped: {words}" if (words := spent(job.record)) is not None else "stopped on request"
        case _:
            return str(job.record.get("reason", "lost, its exit status is unknown"))


def label_of(job: Job) -> str:
    """What a list calls it."""
    line = " ".join(str(job.record.get("label") or job.record.get("command", "")).split())
    return line if len(line) <= LABEL_CHARACTERS else f"{line[: LABEL_CHARACTERS - 3]}..."


def duration_of(job: Job) -> float:
    """Seconds from its start to its end, or to now."""
    ended = job.record.get("endedAt") or time.time()
    return max(0.0, float(ended) - float(job.record.get("startedAt", ended)))


def details_of(job: Job) -> dict[str, Any]:
    """The fields of a job in a tool's details."""
    details: dict[str, Any] = {
        "id": job.id,
        "type": "bash",
        "status": status_of(job),
        "label": label_of(job),
        "durationMs": round(duration_of(job) * 1000),
        "state": job.outcome,
        "outputFile": str(job.output_file),
    }
    for name in ("exitCode", "signal", "pid"):
        if job.record.get(name) is not None:
            details[name] = job.record[name]
    if not job.running:
        details |= told_blame(job.record)
    if len(stages := job.record.get("stages") or []) > 1:
        details["stages"] = stages
    if "survivors" in job.record:
        details["survivors"] = job.record["survivors"]
    if status_of(job) == "failed":
        details["errorText"] = outcome_of(job)
    if job.note is not None:
        details["note"] = job.note
    return details


def headline(job: Job) -> str:
    """One line: id, status, how it ended, for how long, what it is."""
    line = f"{job.id} [bash] {_standing(job)}: {label_of(job)}"
    return f"{line} ({job.note})" if job.note else line


def standing(job: Job) -> str:
    """A shorter line, for a reader who knows the command: id, status, how it ended, for how long."""
    line = f"{job.id} {_standing(job)}"
    return f"{line} ({job.note})" if job.note else line


def _standing(job: Job) -> str:
    how = "running" if job.running else f"{status_of(job)}, {outcome_of(job)}"
    return f"{how}, {spell_seconds(duration_of(job))}"


def spell_seconds(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02d}m" if hours else f"{minutes}m{rest:02d}s"
