"""A tool's reply as the result of `tools/call`. Pure; the one place that knows the shape of that result.

The model reads text. Well-known clients put `structuredContent` in the place of the text, as escaped JSON, so a result
has it only where the server was started with `--structured`. The facts are in `_meta` for programs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from nacre.contracts.contract import Reply

# Older revisions know neither structured content nor links.
STRUCTURED_SINCE = "2025-06-18"
# The key of the facts in a result's `_meta`.
DETAILS_KEY = "nacre/details"

ARTIFACT = "artifact://"
JOB = "job://"


def result_of(reply: Reply, *, revision: str, told: Sequence[str] = (), structured: bool = False) -> dict[str, Any]:
    """The result at a protocol revision; `told` are notices that go with it."""
    text = reply.text if reply.bare is None else json.dumps(reply.bare, ensure_ascii=False)
    content: list[dict[str, Any]] = [{"type": "text", "text": text}]
    content += [{"type": "text", "text": notice} for notice in (*reply.notices, *told)]
    result: dict[str, Any] = {"content": content, "isError": reply.is_error}
    if reply.details:
        result["_meta"] = {DETAILS_KEY: dict(reply.details)}
    if revision >= STRUCTURED_SINCE:
        content += links_of(reply.details)
        if structured:
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
