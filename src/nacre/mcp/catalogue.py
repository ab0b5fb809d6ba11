"""What clients read of the server and its tools: instructions, titles, hints, and the schema of the answer. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import nacre
from nacre.contracts import COMPANIONS
from nacre.mcp.machine import ServerCard

INSTRUCTIONS = """\
A shell that always comes back: timeouts end everything a command started, long output is kept and can be read further,
long commands go on as background jobs whose end is told with a later result."""

CARD = ServerCard(name="nacre", title="nacre shell", version=nacre.__version__, instructions=INSTRUCTIONS)

# The contracts whose shell needs the companions beside it, and whose calls may name their session.
WITH_COMPANIONS = ("workspace",)

# The role of a contract's shell tool, under any name.
SHELL = "shell"

_TITLES = {
    SHELL: "Run a shell command",
    "job": "Background jobs",
    "read": "Read kept output",
    "changes": "Commit or discard a try",
}

# What the tools may do, in the terms of the protocol. A shell may do anything.
_HINTS: dict[str, dict[str, bool]] = {
    SHELL: {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True},
    "job": {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": False},
    "read": {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False},
    "changes": {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False},
}


def _or_null(kind: str) -> dict[str, Any]:
    # Some clients cannot map a list of types onto their own schemas.
    return {"anyOf": [{"type": kind}, {"type": "null"}]}


_JOB_REF = {
    "type": "object",
    "properties": {"state": {"type": "string"}, "jobId": {"type": "string"}, "type": {"type": "string"}},
}

# The fields of `details`; a field that does not apply is absent.
_DETAILS: dict[str, dict[str, Any]] = {
    SHELL: {
        "exitCode": _or_null("integer") | {"description": "of the command, when it is not 0"},
        "signal": {"type": "string", "description": "that ended the command"},
        "timedOut": {"type": "boolean"},
        "timeoutSeconds": _or_null("number"),
        "requestedTimeoutSeconds": {"type": "number", "description": "when another one was used"},
        "wallTimeMs": {"type": "integer"},
        "stages": {"type": "array", "items": {"type": "integer"}, "description": "exit codes of the last pipeline"},
        "survivors": {"type": "array", "items": {"type": "object"}, "description": "processes left running"},
        "async": _JOB_REF | {"description": "the background job that goes on"},
        "artifactId": {"type": "string", "description": "of the full output, for artifact://ID and the read tool"},
        "meta": {"type": "object", "description": "what was left out of the text, exactly"},
        "try": {"type": "object", "description": "what the command would change, for the changes tool"},
    },
    "job": {
        "jobs": {"type": "array", "items": {"type": "object"}, "description": "how each job stands"},
        "reason": {"type": "string", "description": "why a poll returned"},
        "nextOffset": {"type": "integer", "description": "where to read on"},
    },
    "read": {
        "uri": {"type": "string"},
        "offset": {"type": "integer"},
        "totalBytes": {"type": "integer"},
        "nextOffset": {"type": "integer", "description": "where to read on"},
    },
    "changes": {
        "id": {"type": "string"},
        "state": {"type": "string", "description": "running, open, committing, committed or discarded"},
        "done": {"type": "integer", "description": "paths that were committed or discarded"},
        "left": {"type": "integer", "description": "paths that are neither"},
        "conflicts": {"type": "array", "items": {"type": "object"}, "description": "paths that were not committed"},
    },
}

# The contracts with an answer object of their own.
_BARE: dict[str, dict[str, Any]] = {
    "basic": {
        "stdout": {"type": "string"},
        "stderr": {"type": "string"},
        "exitCode": {"type": "integer"},
        "error": {"type": "string", "description": "instead of the others: why nothing was run, or a timeout"},
    },
    "openai": {
        "output": {"type": "array", "items": {"type": "object"}, "description": "stdout, stderr, outcome of each"},
        "max_output_length": _or_null("integer"),
    },
}


def offered_by(contract: str) -> tuple[str, ...]:
    """Return the contract and its companions."""
    return (contract, *(COMPANIONS if contract in WITH_COMPANIONS else ()))


def describe(contract: str, schema: Mapping[str, Any], *, structured: bool = False) -> dict[str, Any]:
    """A tool as `tools/list` shows it."""
    role = contract if contract in _HINTS else SHELL
    return {
        "name": schema["name"],
        "title": _TITLES[role],
        "description": schema["description"],
        "inputSchema": schema["input_schema"],
        **({"outputSchema": _output_schema(contract, role)} if structured else {}),
        "annotations": {"title": _TITLES[role], **_HINTS[role]},
    }


def _output_schema(contract: str, role: str) -> dict[str, Any]:
    if contract in _BARE:
        return {"type": "object", "properties": _BARE[contract]}
    return {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "what the model reads"},
            "is_error": {"type": "boolean"},
            "details": {"type": "object", "properties": _DETAILS[role]},
            "notices": {"type": "array", "items": {"type": "string"}, "description": "background jobs that have ended"},
        },
        "required": ["text", "is_error", "details"],
    }
