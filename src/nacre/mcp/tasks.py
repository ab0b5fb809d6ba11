"""The tasks extension: a call that outlives its window is answered with a task, backed by a durable job.

The client, not the model, then asks for the result. Only a client that declares the extension gets tasks, and only for
a call that became a job by itself; a model that asked for a job gets its id at once. A task is the record of its job on
disk, so it survives a restart of the server.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    RequestParams,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from nacre.contracts.contract import Reply
from nacre.errors import JobError
from nacre.jobs.job import Job
from nacre.jobs.notices import claim, text_of
from nacre.jobs.status import details_of, headline, outcome_of, status_of
from nacre.jobs.table import JobTable
from nacre.mcp.answer import COMPLETE, job_of, result_of

EXTENSION = "io.modelcontextprotocol/tasks"
NAME_HEADER = "mcp-name"
# The end of a job is on disk at once, so polling this often is enough.
POLL_MS = 1_000
MARK_CHARACTERS = 16

Context = ServerRequestContext[Any, Any]


class TaskParams(RequestParams):
    """Parameters of `tasks/get` and `tasks/cancel`."""

    task_id: str


class TaskUpdateParams(TaskParams):
    """Parameters of `tasks/update`."""

    input_responses: dict[str, Any] | None = None


def is_declared(context: Context) -> bool:
    """True if the client of this request supports tasks."""
    capabilities = context.session.client_capabilities
    return (
        context.protocol_version in MODERN_PROTOCOL_VERSIONS
        and capabilities is not None
        and EXTENSION in (capabilities.extensions or {})
    )


def require(context: Context) -> None:
    """Raise MCPError for a client that did not declare the extension."""
    if not is_declared(context):
        raise MCPError(
            code=MISSING_REQUIRED_CLIENT_CAPABILITY,
            message=f"the client must declare the extension {EXTENSION}",
            data={"requiredCapabilities": {"extensions": {EXTENSION: {}}}},
        )


def kept_by_itself(arguments: Mapping[str, Any], reply: Reply) -> str | None:
    """Return the running job that a call became without being asked to."""
    kept = reply.details.get("async")
    if "outputFile" not in reply.details or not isinstance(kept, Mapping) or kept.get("state") != "running":
        return None
    return None if arguments.get("async") or arguments.get("until") is not None else job_of(reply.details)


def created(job: Job, *, hours: float) -> dict[str, Any]:
    """Answer a call that goes on as a task."""
    return {"resultType": "task", **_task(job, hours=hours)}


def current(job: Job, *, hours: float, version: str) -> dict[str, Any]:
    """Return the state of a task, with the result of the call if it has ended."""
    task = {"resultType": COMPLETE, **_task(job, hours=hours)}
    if task["status"] == "completed":
        # The result replaces the notice about the end.
        claim(job)
        reply = Reply(text=text_of(job), is_error=status_of(job) != "completed", details=details_of(job))
        task["result"] = result_of(reply, version=version)
    elif task["status"] == "failed":
        task["error"] = {"code": INTERNAL_ERROR, "message": outcome_of(job)}
    return task


def find(table: JobTable, task_id: str, context: Context) -> Job:
    """Return the job of a task; the client must know its whole id.

    Raises:
        MCPError: there is no such task, the extension is not declared, or a header contradicts the id.
    """
    require(context)
    named = None if context.request is None else context.request.headers.get(NAME_HEADER)
    if named is not None and named != task_id:
        raise MCPError(code=HEADER_MISMATCH, message=f"the header {NAME_HEADER} does not name the task {task_id!r}")
    try:
        job = table.get(task_id.partition("-")[0])
    except JobError:
        job = None
    if job is None or id_of(job) != task_id:
        raise MCPError(
            code=INVALID_PARAMS, message=f"there is no task {task_id!r}; finished ones are forgotten in time"
        )
    return job


def id_of(job: Job) -> str:
    """Return the id of a task: the job id and a mark that cannot be guessed and is unique to this job."""
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
        # Counted from its creation; the job is kept this long after its end.
        "ttlMs": max(1, round(hours * 3_600_000)),
        "pollIntervalMs": POLL_MS,
    }


def _status(job: Job) -> str:
    """Return the task status; a failed command completes its task, only a lost job fails it."""
    if job.running:
        return "working"
    if job.state == "stopped":
        return "cancelled"
    return "failed" if job.state == "lost" else "completed"


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
