"""The card of a reply of any contract, as far as the reply tells its facts. Pure."""

from __future__ import annotations

import time

from nacre.contracts.contract import Reply
from nacre.errors import DeniedError
from nacre.feed.card import Card


def end_with(card: Card, reply: Reply) -> None:
    """Take the facts of a reply."""
    details = reply.details
    card.ended = time.time()
    code = details.get("exitCode", 1 if reply.is_error else 0)
    card.outcome, card.exit_code = "exited", code if isinstance(code, int) else None
    if reply.refusal is not None:
        card.outcome = "denied" if isinstance(reply.refusal, DeniedError) else "notStarted"
    elif details.get("timedOut"):
        card.outcome = "timedOut"
    took = details.get("wallTimeMs")
    card.seconds = took / 1000 if isinstance(took, int | float) else None
    timeout = details.get("timeoutSeconds")
    card.timeout = float(timeout) if isinstance(timeout, int | float) else None
    if details.get("artifactId") is not None:
        card.artifacts = [str(details["artifactId"])]
    job = details.get("async")
    if isinstance(job, dict):
        card.job_id = str(job.get("jobId"))
        if job.get("state") == "running":
            card.outcome = None
