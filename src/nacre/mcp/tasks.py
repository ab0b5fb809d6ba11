"""The tasks extension: a call that outlives its window is answered with a task, which is our durable job.

The client then asks for the result instead of the model. Only a client that declares the extension is given tasks, and
only for a call that became a job by itself: a model that asked for a job is told of it at once. The record on disk is
all there is to a task, so it can be asked for after a restart of the server, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from nacre.contracts.contract import Reply
from nacre.errors import JobError
from nacre.jobs.job import Job
from nacre.jobs.notices import claim, text_of
from nacre.jobs.status import details_of, headline, outcome_of, status_of
from nacre.jobs.table import JobTable
from nacre.mcp.answer import job_of, result_of
from nacre.mcp.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, MISSING_CAPABILITY, RpcError
from nacre.mcp.machine import TASKS, ServerCall

# A job's end is on disk at once; a client that asks this often is soon enough.
POLL_MS = 1_000
MARK_CHARACTERS = 16


def is_declared(call: ServerCall) -> bool:
    """Whether the client of this call can be answered with a task."""
    return call.is_modern and TASKS in (call.capabilities.get("extensions") or {})


def require(call: ServerCall) -> None:
    """Raise RpcError for a client that did not declare the extension."""
    if not is_declared(call):
        raise RpcError(
            MISSING_CAPABILITY,
            f"the client must declare the extension {TASKS}",
            {"requiredCapabilities": {"extensions": {TASKS: {}}}},
        )


def kept_by_itself(arguments: Mapping[str, Any], reply: Reply) -> str | None:
    """The job that a call became without being asked to, and which runs on."""
    kept = reply.details.get("async")
    if "outputFile" not in reply.details or not isinstance(kept, Mapping) or kept.get("state") != "running":
        return None
    return None if arguments.get("async") or arguments.get("until") is not None else job_of(reply.details)


def created(job: Job, *, hours: float) -> dict[str, Any]:
    """The answer to a call that goes on as a task."""
    return {"resultType": "task", **_task(job, hours=hours)}


def current(job: Job, *, hours: float, revision: str) -> dict[str, Any]:
    """How a task stands: with the call's result when it has ended."""
    task = _task(job, hours=hours)
    if task["status"] == "completed":
        # A client that is given the result gets no notice of the end as well.
        claim(job)
        reply = Reply(text=text_of(job), is_error=status_of(job) != "completed", details=details_of(job))
        task["result"] = {"resultType": "complete", **result_of(reply, revision=revision)}
    elif task["status"] == "failed":
        task["error"] = {"code": INTERNAL_ERROR, "message": outcome_of(job)}
    return task


def find(table: JobTable, call: ServerCall) -> Job:
    """The job behind the task that a request names; the client must know its whole name.

    Raises:
        RpcError: there is none, or the client did not declare the extension.
    """
    require(call)
    task_id = call.params["taskId"]
    try:
        job = table.get(task_id.partition("-")[0])
    except JobError:
        job = None
    if job is None or id_of(job) != task_id:
        raise RpcError(INVALID_PARAMS, f"there is no task {task_id!r}; finished ones are forgotten in time")
    return job


def id_of(job: Job) -> str:
    """The task's name: the job's, and a mark that is not guessed and not used again with another job of that name."""
    facts = "\0".join(str(job.record.get(name)) for name in ("id", "startedAt", "pid", "pidStart", "bootId"))
    return f"{job.id}-{hashlib.sha256(facts.encode()).hexdigest()[:MARK_CHARACTERS]}"


def _task(job: Job, *, hours: float) -> dict[str, Any]:
    started = job.record.get("startedAt") or 0
    return {
        "taskId": id_of(job),
        "status": _status(job),
        "statusMessage": headline(job),
        "createdAt": _time(started),
        "lastUpdatedAt": _time(job.record.get("endedAt") or started),
        # From its creation; a job is kept as long after its end.
        "ttlMs": max(1, round(hours * 3_600_000)),
        "pollIntervalMs": POLL_MS,
    }


def _status(job: Job) -> str:
    """A command that failed was still run to its end; only what we cannot answer for has failed as a task."""
    if job.running:
        return "working"
    if job.state == "stopped":
        return "cancelled"
    return "failed" if job.state == "lost" else "completed"


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
