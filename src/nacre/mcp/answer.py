"""A tool's reply as the protocol's result: text, the same as an object, and links to what can be read further. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from nacre.contracts.contract import Reply

# Older revisions know neither structured content nor links.
STRUCTURED_SINCE = "2025-06-18"

# The newest revision wants every result to say that it is one; the SDK takes it out for the others.
COMPLETE = "complete"

ARTIFACT = "artifact://"
JOB = "job://"


def result_of(reply: Reply, *, version: str, told: Sequence[str] = ()) -> dict[str, Any]:
    """The result of `tools/call` at a protocol version; `told` are notices that go with it.

    The object repeats the text: some clients show their model that alone.
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
    """Links to what a reply's details name."""
    links = []
    artifact = details.get("artifactId")
    if artifact is not None:
        links.append(_link(f"{ARTIFACT}{artifact}", f"output {artifact}", "The full output of this command"))
    job = job_of(details)
    if job is not None:
        links.append(_link(f"{JOB}{job}", f"job {job}", "How this background job stands, and its output"))
    return links


def job_of(details: Mapping[str, Any]) -> str | None:
    """The job that a shell's reply names."""
    kept = details.get("async")
    found = kept.get("jobId") if isinstance(kept, Mapping) else details.get("jobId")
    return found if isinstance(found, str) else None


def _link(uri: str, name: str, description: str) -> dict[str, Any]:
    return {"type": "resource_link", "uri": uri, "name": name, "description": description, "mimeType": "text/plain"}
