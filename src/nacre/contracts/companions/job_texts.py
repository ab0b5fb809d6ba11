"""The answers of the `job` tool: texts for the model, details for programs. Every answer is bounded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from nacre.artifacts.excerpt import read_tail
from nacre.contracts.contract import Reply
from nacre.contracts.waiting_texts import how_to_answer, how_to_see
from nacre.errors import JobError
from nacre.jobs.job import Job, Listing
from nacre.jobs.job_terminal import state
from nacre.jobs.notices import INLINE_CHARACTERS, output_of
from nacre.jobs.output_file import JobFile
from nacre.jobs.ownership import others_line
from nacre.jobs.polling import Poll
from nacre.jobs.status import details_of, headline, standing
from nacre.output.decode import fit_head
from nacre.until import Until

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.jobs.terminal_view import TerminalView

LIMIT_BYTES = 50 * 1024
# The list has all running jobs and this many ended ones; older ones stay on disk and are found by id.
MOST_ENDED = 50
# The newest lines of a running job are shown.
TAIL_LINES = 10
TAIL_BYTES = 1_000

Cancelled = Literal["cancelled", "not_found", "already_completed"]


def listed(listing: Listing, *, others: int = 0) -> Reply:
    running = [job for job in listing.jobs if job.running]
    ended = [job for job in listing.jobs if not job.running]
    shown = ended[-MOST_ENDED:]
    lines = [f"Running ({len(running)})", *(f"- {headline(job)}" for job in running)]
    if ended:
        lines += [f"Ended ({len(ended)})", *(f"- {headline(job)}" for job in shown)]
        if len(shown) < len(ended):
            lines.append(f"[{len(ended) - len(shown)} older ones are not listed]")
    lines += [f"[left alone: {problem}]" for problem in listing.damaged]
    if not listing.jobs and not listing.damaged:
        lines = ["No jobs."]
    details: dict[str, Any] = {"jobs": [details_of(job) for job in [*running, *shown]]}
    if others:
        lines.append(f"[{others_line(others, 'add all: true to see them')}]")
        details["others"] = others
    return Reply(text=_bounded("\n".join(lines)), is_error=False, details=details)


def polled(found: Poll, until: Until | None, *, wait: float, notices: Sequence[str]) -> Reply:
    ended = [job for job in found.jobs if not job.running]
    running = [job for job in found.jobs if job.running]
    share = min(INLINE_CHARACTERS, LIMIT_BYTES * 4 // 5 // max(1, len(found.jobs)))
    lines = [f"[{notice}]" for notice in notices]
    if (why := _why(found, until, wait=wait)) is not None:
        lines.insert(0, why)
    lines += [f"[no job {job_id!r}]" for job_id in found.unknown]
    alone = len(found.jobs) == 1
    details = []
    if ended:
        lines += [] if alone else ["", f"## Completed ({len(ended)})"]
        for job in ended:
            output = output_of(job, share)
            lines += [headline(job) if alone else f"### {headline(job)}", *_fenced(output)]
            details.append(details_of(job) | {"resultText": output})
    if running:
        lines += [] if alone else ["", f"## Still running ({len(running)})"]
        for job in running:
            terminal = state(job)
            waiting = None if terminal is None else terminal.waiting
            lines += [headline(job) if alone else f"- {headline(job)}"]
            newest = [] if terminal is not None and terminal.full_screen else _newest(job, min(share, TAIL_BYTES))
            lines += newest
            if terminal is not None and terminal.interactive:
                lines.append(how_to_see(job.id))
            if waiting is not None:
                lines.append(how_to_answer(job.id, waiting, shown=newest[1] if len(newest) > 1 else ""))
            details.append(details_of(job) | ({} if waiting is None else {"waitingFor": waiting.details()}))
    more: dict[str, Any] = {"reason": found.reason, "jobs": details}
    asked = [one["waitingFor"] for one in details if one["id"] == found.by and "waitingFor" in one]
    if asked:
        more["waitingFor"] = asked[0]
    if found.by is not None:
        more["by"] = found.by
    if found.line is not None:
        more["line"] = found.line
    if found.unknown:
        more["unknown"] = list(found.unknown)
    return Reply(text=_bounded("\n".join(lines)), is_error=False, details=more)


def cancelled(outcomes: Mapping[str, Cancelled], problems: Mapping[str, str], jobs: Sequence[Job]) -> Reply:
    still = {job.id for job in jobs if job.running}
    words = {
        "cancelled": "cancelled",
        "not_found": "not found; list: true names the jobs",
        "already_completed": "had ended already",
    }
    lines = []
    for job_id, outcome in outcomes.items():
        slow = " (it is being ended; what does not stop by itself is killed)" if job_id in still else ""
        lines.append(f"{job_id}: {problems.get(job_id, words[outcome])}{slow}")
    return Reply(
        text="\n".join(lines),
        is_error=all(outcome == "not_found" for outcome in outcomes.values()),
        details={
            "cancelled": [{"id": job_id, "status": outcome} for job_id, outcome in outcomes.items()],
            "jobs": [details_of(job) for job in jobs],
        },
    )


def with_job(job: Job, reply: Reply) -> Reply:
    """Add the state of the job to the answer of a read."""
    return Reply(
        text=f"{reply.text}\n[{standing(job)}]",
        is_error=reply.is_error,
        details={"id": job.id, **reply.details, "jobs": [details_of(job)]},
    )


def screen(view: TerminalView) -> Reply:
    """Answer with what a terminal shows."""
    rows, cursor, job = view.screen.text(), view.screen.cursor, view.job
    while rows and not rows[-1]:
        rows.pop()
    where = f"cursor at row {cursor.row + 1}, column {cursor.column + 1}"
    lines = [*_fenced("\n".join(rows)), f"[{view.screen.columns}x{view.screen.rows}, {where}; {standing(job)}]"]
    details: dict[str, Any] = {
        "id": job.id,
        "screen": rows,
        "columns": view.screen.columns,
        "rows": view.screen.rows,
        "cursor": {"column": cursor.column, "row": cursor.row},
        "alternate": view.screen.modes.alternate,
        "jobs": [details_of(job)],
    }
    if view.waiting is not None:
        lines.append(how_to_answer(job.id, view.waiting))
        details["waitingFor"] = view.waiting.details()
    return Reply(text=_bounded("\n".join(lines)), is_error=False, details=details)


def _why(found: Poll, until: Until | None, *, wait: float) -> str | None:
    """Return why the poll has returned; None where the state of the jobs says it."""
    match found.reason:
        case "ended":
            return None if found.jobs else "Nothing to wait for."
        case "matched":
            assert until is not None
            return f"In {found.by} {until}: {found.line}"
        case "wait":
            waited = f"within {wait:g} s" if wait else "yet"
            more = f", nor was it true that {until}" if until is not None else ""
            return f"None has ended {waited}{more}."
        case "waiting":
            return None
        case "port":
            return f"It happened: {until}."
        case _:
            return f"It happened: {until} ({found.by})."


def _newest(job: Job, limit: int) -> list[str]:
    try:
        with JobFile.open(job) as file:
            text = read_tail(file, TAIL_LINES, limit, growing=True).text.rstrip()
            return _fenced(text) if text else [f"[{notice}]" for notice in file.notices]
    except JobError as error:
        return [f"[{error}]"]


def _fenced(text: str) -> list[str]:
    fence = "```"
    while fence in text:
        fence += "`"
    return [fence, text, fence]


def _bounded(text: str) -> str:
    if len(text.encode()) <= LIMIT_BYTES:
        return text
    return fit_head(text.encode(), LIMIT_BYTES)[0] + "\n[the answer is cut here; ask for fewer jobs]"
