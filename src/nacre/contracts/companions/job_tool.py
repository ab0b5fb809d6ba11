"""The `job` companion: lists, polls, reads, writes to and cancels background jobs; one verb per call.

The verbs are fields. That exactly one is given is checked here, because many vendors' schemas cannot express it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nacre.contracts.companions import job_texts
from nacre.contracts.companions.output_reading import FIELDS, PROPERTIES, decode_selector, read
from nacre.contracts.contract import Companion, Reply, SchemaContext
from nacre.contracts.fields import arguments_of, flag_of, number_of
from nacre.contracts.tool_schema import text_property, tool_schema, until_property
from nacre.errors import InvalidRequestError, JobError, UnknownJobError, shown
from nacre.jobs.job import Job
from nacre.jobs.job_input import write_to
from nacre.jobs.notices import claim
from nacre.jobs.output_file import JobFile
from nacre.jobs.ownership import own_jobs
from nacre.jobs.polling import Scans, poll
from nacre.regex.automaton import RegexWorkError
from nacre.request import Owner, check_encodable
from nacre.until import decode_until
from nacre.wording import counted

if TYPE_CHECKING:
    from nacre.engine.engine import Engine

DEFAULT_WAIT = 30.0
LONGEST_WAIT = 600.0
# A job that ends on TERM has ended by then; the runner kills others after their grace.
CANCEL_SECONDS = 2.0
LONGEST_TEXT_BYTES = 64 * 1024
MOST_ID_CHARACTERS = 64

# Verb → the fields that go with it.
VERBS: dict[str, tuple[str, ...]] = {
    "list": ("all",),
    "poll": ("until", "wait"),
    "cancel": (),
    "read": FIELDS,
    "write": ("text",),
}

DESCRIPTION = """\
Background jobs: commands that were started with async or until, that outlived their window, or that a command left
running. Exactly one of list, poll, cancel, read, write per call.

- {"list": true}: the jobs of this session and project; with "all": true those of others too.
- {"poll": ["bg_1"], "wait": 30}: waits until one of them ends, at most `wait` seconds; [] is all yours. With `until`
  it also returns when that has happened: {"regex": "ready"}, {"port": 3000}, {"file": "out.log"}, {"quiet": 5}.
  One poll with a long wait replaces many short ones. A finished job's result is in the answer, and not delivered again.
- {"read": "bg_1"}: the newest output, of a running job too; or from `offset`, the last lines with `tail`, or lines that
  match with `grep`.
- {"write": "bg_1", "text": "yes\\n"}: to the stdin of a job that was started with pty: true.
- {"cancel": ["bg_1"]}: ends the job and everything it started."""


class JobTool(Companion):
    """The companion `job`."""

    def __init__(self) -> None:
        self._scans = Scans()

    def schema(self, context: SchemaContext) -> dict[str, Any]:
        ids = {"type": "array", "items": {"type": "string"}}
        reading = {
            name: shape | {"description": f"with read: {shape['description']}"} for name, shape in PROPERTIES.items()
        }
        return tool_schema(
            "job",
            DESCRIPTION,
            {
                "list": {"type": "boolean", "description": "true: list the jobs of this session and project"},
                "all": {"type": "boolean", "description": "with list: true lists those of others too"},
                "poll": ids | {"description": "ids to wait for; [] is all of yours that run"},
                "until": until_property(
                    "with poll: return when this has happened, too; give exactly one",
                    regex="a line of new output matches",
                ),
                "wait": {
                    "type": "number",
                    "minimum": 0,
                    "description": f"with poll: most seconds to wait (default 30, at most {LONGEST_WAIT:g})",
                },
                "cancel": ids | {"description": "ids to end"},
                "read": text_property("id whose output to read"),
                **reading,
                "write": text_property("id whose stdin to write to"),
                "text": text_property("with write: the text, with its newline"),
            },
        )

    async def answer(self, engine: Engine, arguments: object, owner: Owner) -> Reply:
        known = list(dict.fromkeys(name for verb, more in VERBS.items() for name in (verb, *more)))
        given = arguments_of(arguments, known=known)
        # A model may send null, or "list": false, for an absent field.
        fields = {
            name: value for name, value in given.items() if value is not None and (name, value) != ("list", False)
        }
        verb = _verb_of(fields)
        match verb:
            case "list":
                return await _list(engine, fields, owner)
            case "poll":
                return await self._poll(engine, fields, owner)
            case "cancel":
                return await _cancel(engine, _ids_of(fields, "cancel"))
            case "read":
                return await _read(engine, fields)
            case _:
                return _write(engine, fields)

    async def _poll(self, engine: Engine, fields: Mapping[str, Any], owner: Owner) -> Reply:
        ids = _ids_of(fields, "poll")
        until = decode_until(fields["until"]) if "until" in fields else None
        wait = number_of(fields, "wait", least=0, whole=False)
        wait = DEFAULT_WAIT if wait is None else wait
        notices = [] if wait <= LONGEST_WAIT else [f"wait was cut to {LONGEST_WAIT:g} s, the most"]
        if not ids:
            listing, _ = await own_jobs(owner, engine.jobs.list())
            ids = [job.id for job in listing.jobs if job.running]
            if not ids:
                return Reply(text="No jobs are running.", is_error=False, details={"jobs": [], "reason": "ended"})
        try:
            found = await poll(engine.jobs, ids, until=until, wait=min(wait, LONGEST_WAIT), scans=self._scans)
        except RegexWorkError as error:
            raise InvalidRequestError(f"field 'until.regex': {error}", field="until.regex") from error
        if not found.jobs:
            listing, _ = await own_jobs(owner, engine.jobs.list())
            raise UnknownJobError(", ".join(found.unknown), [job.id for job in listing.jobs])
        for job in found.jobs:
            if not job.running:
                claim(job)
        return job_texts.polled(found, until, wait=min(wait, LONGEST_WAIT), notices=notices)


def _verb_of(fields: Mapping[str, Any]) -> str:
    verbs = [name for name in VERBS if name in fields]
    if len(verbs) != 1:
        got = " and ".join(verbs) or "none"
        raise InvalidRequestError(f"give exactly one of {', '.join(VERBS)} per call, got {got}", field="arguments")
    for name in fields:
        if name != verbs[0] and name not in VERBS[verbs[0]]:
            owners = [verb for verb, more in VERBS.items() if name in more]
            raise InvalidRequestError(
                f"field '{name}' goes with {' or '.join(owners)}, not with {verbs[0]}; leave it out", field=name
            )
    return verbs[0]


def _ids_of(fields: Mapping[str, Any], name: str) -> list[str]:
    value = fields[name]
    if isinstance(value, str):
        return [_checked_id(value, name)]
    if not isinstance(value, Sequence) or not all(isinstance(one, str) for one in value):
        raise InvalidRequestError(f"field '{name}' must be a list of job ids, got {shown(value)}", field=name)
    if name == "cancel" and not value:
        raise InvalidRequestError("field 'cancel' is empty; name the jobs to end", field=name)
    return [_checked_id(one, name) for one in value]


def _id_of(fields: Mapping[str, Any], name: str) -> str:
    if not isinstance(fields[name], str):
        raise InvalidRequestError(f"field '{name}' must be a job id, got {shown(fields[name])}", field=name)
    return _checked_id(fields[name], name)


def _checked_id(job_id: str, name: str) -> str:
    if len(job_id) > MOST_ID_CHARACTERS or not job_id.isprintable():
        raise InvalidRequestError(f"field '{name}' must be a job id such as bg_1, got {shown(job_id)}", field=name)
    return job_id


async def _list(engine: Engine, fields: Mapping[str, Any], owner: Owner) -> Reply:
    if fields["list"] is not True:
        raise InvalidRequestError(f"field 'list' must be true, got {shown(fields['list'])}", field="list")
    everything = flag_of(fields, "all")
    listing = engine.jobs.list()
    own, others = (listing, 0) if everything else await own_jobs(owner, listing)
    return job_texts.listed(own, others=others)


async def _cancel(engine: Engine, ids: list[str]) -> Reply:
    outcomes: dict[str, job_texts.Cancelled] = {}
    problems: dict[str, str] = {}
    for job_id in dict.fromkeys(ids):
        try:
            job = engine.jobs.stop(job_id)
        except UnknownJobError:
            outcomes[job_id] = "not_found"
            continue
        except JobError as error:
            outcomes[job_id] = "not_found"
            problems[job_id] = str(error)
            continue
        outcomes[job_id] = "cancelled" if job.running else "already_completed"
        # The caller that cancels a job gets no notice about its end.
        claim(job)
    ending = [job_id for job_id, outcome in outcomes.items() if outcome == "cancelled"]
    jobs = await _ended(engine, ending)
    return job_texts.cancelled(outcomes, problems, jobs)


async def _ended(engine: Engine, ids: list[str]) -> list[Job]:
    """Return the jobs once all have ended or the wait is over."""
    jobs: dict[str, Job] = {}
    left = ids
    end = time.monotonic() + CANCEL_SECONDS
    while left:
        found = await poll(engine.jobs, left, wait=max(0.0, end - time.monotonic()))
        jobs |= {job.id: job for job in found.jobs}
        if found.reason == "wait":
            break
        left = [job.id for job in found.jobs if job.running]
    return [jobs[job_id] for job_id in ids if job_id in jobs]


async def _read(engine: Engine, fields: Mapping[str, Any]) -> Reply:
    job = engine.jobs.get(_id_of(fields, "read"))
    selector = decode_selector(fields)
    with JobFile.open(job) as file:
        reply = await read(
            file,
            selector,
            growing=job.running,
            again=lambda offset: f"job {json.dumps({'read': job.id, 'offset': offset})}",
            plainly="end",
            notices=file.notices,
        )
    return job_texts.with_job(job, reply)


def _write(engine: Engine, fields: Mapping[str, Any]) -> Reply:
    job = engine.jobs.get(_id_of(fields, "write"))
    text = fields.get("text")
    if not isinstance(text, str) or not text:
        raise InvalidRequestError(f"field 'text' must be the text to write, got {shown(text)}", field="text")
    check_encodable(text, "text")
    data = text.encode("utf-8", "surrogateescape")
    if len(data) > LONGEST_TEXT_BYTES:
        raise InvalidRequestError(
            f"field 'text' has {len(data)} bytes; write at most {LONGEST_TEXT_BYTES} at once", field="text"
        )
    write_to(job, data)
    return Reply(
        text=f"Wrote {counted(len(data), 'byte')} to {job.id}.",
        is_error=False,
        details={"id": job.id, "writtenBytes": len(data)},
    )
