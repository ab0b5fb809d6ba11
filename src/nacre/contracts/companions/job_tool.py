"""The `job` companion: lists, polls, reads, writes to and cancels background jobs; one verb per call.

The verbs are fields. That exactly one is given is checked here, because many vendors' schemas cannot express it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nacre.contracts.companions import job_schema, job_texts
from nacre.contracts.companions.job_schema import DEFAULT_WAIT, LONGEST_WAIT
from nacre.contracts.companions.output_reading import decode_selector, read
from nacre.contracts.companions.reading_schema import FIELDS
from nacre.contracts.contract import Companion, Reply, SchemaContext
from nacre.contracts.fields import arguments_of, flag_of, number_of
from nacre.errors import InvalidRequestError, JobError, UnknownJobError, shown
from nacre.jobs.job import Job
from nacre.jobs.job_input import write_to
from nacre.jobs.job_terminal import has_terminal
from nacre.jobs.job_terminal import write as type_into
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

# A job that ends on TERM has ended by then; the runner kills others after their grace.
CANCEL_SECONDS = 2.0
LONGEST_TEXT_BYTES = 64 * 1024
MOST_ID_CHARACTERS = 64

# Verb → the fields that go with it.
VERBS: dict[str, tuple[str, ...]] = {
    "list": ("all",),
    "poll": ("until", "wait"),
    "cancel": (),
    "read": (*FIELDS, "screen"),
    "write": ("text",),
}


class JobTool(Companion):
    """The companion `job`."""

    def __init__(self) -> None:
        self._scans = Scans()

    def schema(self, context: SchemaContext) -> dict[str, Any]:
        return job_schema.schema(context)

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
        most = LONGEST_WAIT if self.most_wait is None else min(self.most_wait, LONGEST_WAIT)
        wait = min(DEFAULT_WAIT, most) if wait is None else wait
        notices = [] if wait <= most else [f"wait was cut to {most:g} s, the most"]
        if not ids:
            listing, _ = await own_jobs(owner, engine.jobs.list())
            ids = [job.id for job in listing.jobs if job.running]
            if not ids:
                return Reply(text="No jobs are running.", is_error=False, details={"jobs": [], "reason": "ended"})
        try:
            found = await poll(engine.jobs, ids, until=until, wait=min(wait, most), scans=self._scans)
        except RegexWorkError as error:
            raise InvalidRequestError(f"field 'until.regex': {error}", field="until.regex") from error
        if not found.jobs:
            listing, _ = await own_jobs(owner, engine.jobs.list())
            raise UnknownJobError(", ".join(found.unknown), [job.id for job in listing.jobs])
        for job in found.jobs:
            if not job.running:
                claim(job)
        return job_texts.polled(found, until, wait=min(wait, most), notices=notices)


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
    if flag_of(fields, "screen"):
        return _screen(engine, job, fields)
    selector = decode_selector(fields, engine.settings.output.inline_bytes)
    with JobFile.open(job) as file:
        reply = await read(
            file,
            selector,
            growing=job.running,
            plainly="end",
            notices=file.notices,
        )
    return job_texts.with_job(job, reply)


def _screen(engine: Engine, job: Job, fields: Mapping[str, Any]) -> Reply:
    """Answer with the text of the job's terminal as a person sees it."""
    for name in FIELDS:
        if name in fields:
            raise InvalidRequestError(
                f"field '{name}' selects from the output, not from a screen; leave it out", field=name
            )
    # Few calls ask for one.
    from nacre.jobs.terminal_view import TerminalView

    view = TerminalView(job, table=engine.jobs)
    try:
        view.update()
        return job_texts.screen(view)
    finally:
        view.close()


def _write(engine: Engine, fields: Mapping[str, Any]) -> Reply:
    job = engine.jobs.get(_id_of(fields, "write"))
    text = fields.get("text")
    if not isinstance(text, str) or not text:
        raise InvalidRequestError(f"field 'text' must be the string to write, got {shown(text)}", field="text")
    check_encodable(text, "text")
    data = text.encode("utf-8", "surrogateescape")
    if len(data) > LONGEST_TEXT_BYTES:
        raise InvalidRequestError(
            f"field 'text' has {len(data)} bytes; write at most {LONGEST_TEXT_BYTES} at once", field="text"
        )
    if has_terminal(job):
        # Enter is a carriage return on a terminal.
        type_into(job, data.replace(b"\r\n", b"\r").replace(b"\n", b"\r"))
    else:
        write_to(job, data)
    return Reply(
        text=f"Wrote {counted(len(data), 'byte')} to {job.id}.",
        is_error=False,
        details={"id": job.id, "writtenBytes": len(data)},
    )
