"""Kept outputs and jobs as resources: `artifact://ID` and `job://ID`, one window at a time.

Consecutive windows, by `nextOffset`, show every byte of an output once. An address holds only a number or a job id, so
it cannot reach other files.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from nacre.artifacts.excerpt import Excerpt, read_lines, read_tail, read_window
from nacre.artifacts.stored import Stored, line_range
from nacre.engine.engine import Engine
from nacre.errors import InvalidRequestError
from nacre.jobs.job import Job
from nacre.jobs.output_file import JobFile
from nacre.jobs.status import details_of, headline
from nacre.mcp.answer import ARTIFACT, JOB

# Entries per page of the list.
PAGE = 100

TEXT, FACTS = "text/plain", "application/json"

TEMPLATES = [
    {
        "uriTemplate": f"{ARTIFACT}{{id}}{{?lines,tail,offset,limit}}",
        "name": "artifact",
        "title": "Kept output",
        "description": "The full output of a command: from a byte offset on (_meta.nextOffset says where to read on), "
        "the lines A:B, or the last lines (tail)",
        "mimeType": TEXT,
    },
    {
        "uriTemplate": f"{JOB}{{id}}{{?lines,tail,offset,limit}}",
        "name": "job",
        "title": "Background job",
        "description": "How a job stands, and its newest output, or its output from a byte offset on, the lines A:B, "
        "or the last lines (tail)",
        "mimeType": TEXT,
    },
]


def listed(engine: Engine, jobs: Sequence[Job], cursor: str | None) -> dict[str, Any]:
    """Return a page of these jobs and all artifacts, newest first; raises InvalidRequestError."""
    if cursor is not None and not (cursor.isascii() and cursor.isdigit()):
        raise InvalidRequestError(f"cursor {cursor!r} is not one of ours", field="cursor")
    start = int(cursor or 0)
    found = [_job_entry(job) for job in reversed(jobs)]
    found += [_artifact_entry(entry) for entry in reversed(engine.artifacts.list())]
    page: dict[str, Any] = {"resources": found[start : start + PAGE]}
    if start + PAGE < len(found):
        page["nextCursor"] = str(start + PAGE)
    return page


def _artifact_entry(entry: Any) -> dict[str, Any]:
    return {
        "uri": f"{ARTIFACT}{entry.id}",
        "name": f"output {entry.id}",
        "description": f"The output of a command ({entry.state})",
        "mimeType": TEXT,
        "size": entry.total_bytes,
    }


def _job_entry(job: Any) -> dict[str, Any]:
    return {"uri": f"{JOB}{job.id}", "name": f"job {job.id}", "description": headline(job), "mimeType": TEXT}


async def read(engine: Engine, uri: str) -> dict[str, Any]:
    """Return the contents at an address.

    Raises:
        InvalidRequestError: the address is wrong.
        UnknownArtifactError: there is no such artifact.
        UnknownJobError: there is no such job.
    """
    rest, _, query = uri.partition("?")
    window = _window_of(query, uri)
    if rest.startswith(ARTIFACT):
        return _contents(await _read_artifact(engine, rest.removeprefix(ARTIFACT), uri, window))
    if rest.startswith(JOB):
        return _contents(*await _read_job(engine, rest.removeprefix(JOB), uri, window))
    raise InvalidRequestError(f"{uri!r} is neither {ARTIFACT}ID nor {JOB}ID", field="uri")


def _contents(*contents: dict[str, Any]) -> dict[str, Any]:
    return {"contents": list(contents)}


class _Window(NamedTuple):
    """The part of an output that an address names."""

    offset: int | None = None
    limit: int | None = None
    tail: int | None = None
    lines: tuple[int, int | None] | None = None


def _window_of(query: str, uri: str) -> _Window:
    window = _Window()
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name == "lines" and (lines := line_range(value)) is not None:
            window = window._replace(lines=lines)
            continue
        # No file size has more digits.
        if name not in ("offset", "limit", "tail") or not (value.isascii() and value.isdigit()) or len(value) > 19:
            raise InvalidRequestError(
                f"{uri!r}: {name}={value!r} must be offset, limit or tail, a number, or lines, such as 100:150",
                field="uri",
            )
        number = int(value)
        window = {
            "offset": window._replace(offset=number),
            "limit": window._replace(limit=number),
            "tail": window._replace(tail=number),
        }[name]
    if window.limit == 0:
        raise InvalidRequestError(f"{uri!r}: limit must be at least 1", field="uri")
    if sum(place is not None for place in (window.offset, window.tail, window.lines)) > 1:
        raise InvalidRequestError(f"{uri!r}: give one of offset, tail and lines", field="uri")
    return window


async def _read_artifact(engine: Engine, number: str, uri: str, window: _Window) -> dict[str, Any]:
    if not (number.isascii() and number.isdigit()) or len(number) > 19:
        raise InvalidRequestError(f"{uri!r}: an artifact's id is a number", field="uri")
    with engine.artifacts.open(int(number)) as artifact:
        growing = artifact.entry.state == "writing"
        return _text(uri, await _read_part(engine, artifact, window, growing=growing, plainly_end=False), growing)


async def _read_job(engine: Engine, job_id: str, uri: str, window: _Window) -> list[dict[str, Any]]:
    job = engine.jobs.get(job_id)
    with JobFile.open(job) as file:
        text = _text(uri, await _read_part(engine, file, window, growing=job.running, plainly_end=True), job.running)
        text["_meta"]["notices"] += file.notices
    return [{"uri": f"{JOB}{job.id}", "mimeType": FACTS, "text": json.dumps(details_of(job))}, text]


async def _read_part(engine: Engine, stored: Stored, window: _Window, *, growing: bool, plainly_end: bool) -> Excerpt:
    most = engine.settings.output.inline_bytes
    limit = most if window.limit is None else min(window.limit, most)
    if window.lines is not None:
        return await read_lines(stored, *window.lines, limit, growing=growing)
    if window.tail is not None or (plainly_end and window.offset is None):
        return read_tail(stored, window.tail, limit, growing=growing)
    return read_window(stored, window.offset or 0, limit, growing=growing)


def _text(uri: str, excerpt: Excerpt, growing: bool) -> dict[str, Any]:
    meta: dict[str, Any] = {
        "offset": excerpt.offset,
        "totalBytes": excerpt.total_bytes,
        "notices": list(excerpt.notices),
    }
    if excerpt.more or growing:
        meta["nextOffset"] = excerpt.next_offset
    if excerpt.lines is not None:
        meta["lines"] = list(excerpt.lines)
    if excerpt.next_line is not None:
        meta["nextLine"] = excerpt.next_line
    return {"uri": uri, "mimeType": TEXT, "text": excerpt.text, "_meta": meta}
