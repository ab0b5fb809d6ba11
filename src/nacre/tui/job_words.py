"""How a job is, in a word or two. Pure."""

from __future__ import annotations

from nacre.jobs.job import Job


def job_state(job: Job) -> str:
    """Return how a job is, in a word or two."""
    if job.outcome == "exited":
        return f"exit {job.record['exitCode']}"
    if job.outcome == "signalled":
        return str(job.record.get("signalName", "signal")).removeprefix("SIG").lower()
    return {"timedOut": "timed out"}.get(job.outcome, job.outcome)
