"""Turns the reply of a tool into a result of the protocol: text, an object, and links to kept output. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from nacre.contracts.contract import Reply

# Older revisions have neither structured content nor links.
STRUCTURED_SINCE = "2025-06-18"

# The newest revision requires this mark in every result; the SDK removes it for others.
COMPLETE = "complete"

ARTIFACT = "artifact://"
JOB = "job://"


def result_of(reply: Reply, *, version: str, told: Sequence[str] = ()) -> dict[str, Any]:
    """Return the result of `tools/call` for a protocol version; `told` are notices to add.

    The object repeats the text, because some clients show their model only the object.
    """
    text = reply.text if reply.bare is None else json.dumps(reply.bare)
    content: list[dict[str, Any]] = [{"type": "text", "text": text}]
    content += [{"type": "text", "text": notice} for notice in (*reply.notices, *told)]
    result: dict[str, Any] = {"resultType": COMPLETE, "content": content, "isError": reply.is_error}
    if version >= STRUCTURED_SINCE:
        content += links_of(reply.details)
        result["structuredContent"] = reply.json() | ({"notices": list(told)} if told else {})
    return result


def links_of(details: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return links to the artifact and the job in the details of a reply."""
    links = []
    artifact = details.get("artifactId")
    if artifact is not None:
        links.append(_link(f"{ARTIFACT}{artifact}", f"output {artifact}", "The full output of this command"))
    job = job_of(details)
    if job is not None:
        links.append(_link(f"{JOB}{job}", f"job {job}", "How this background job stands, and its output"))
    return links


def job_of(details: Mapping[str, Any]) -> str | None:
    """Return the id of the job in the details of a reply."""
    kept = details.get("async")
    found = kept.get("jobId") if isinstance(kept, Mapping) else details.get("jobId")
    return found if isinstance(found, str) else None


def _link(uri: str, name: str, description: str) -> dict[str, Any]:
    return {"type": "resource_link", "uri": uri, "name": name, "description": description, "mimeType": "text/plain"}
