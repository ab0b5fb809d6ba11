"""`nacre jobs`: lists, shows, waits for, reads and stops the background jobs of this state directory."""

from __future__ import annotations

import argparse
import json
import os
import select
import sys
import time
from typing import Any

from nacre import config
from nacre.cli.following import LOOK_SECONDS
from nacre.cli.frame import complain, say
from nacre.cli.listing import GREEN, RED, SIGN_COLUMNS, Paper, paper
from nacre.cli.output_range import add_range, print_range, range_facts
from nacre.cli.parser import subcommand
from nacre.errors import InvalidRequestError
from nacre.jobs.job import Job
from nacre.jobs.liveness import RunnerLock
from nacre.jobs.output_file import JobFile
from nacre.jobs.ownership import others_line, split
from nacre.jobs.table import JobTable
from nacre.warden import path_lookup

# How often the progress of a job that is waited for is drawn.
PROGRESS_SECONDS = 0.5

OUTCOMES = ("running", "exited", "signalled", "timedOut", "stopped", "lost")

EPILOG = """\
examples:
  nacre jobs list --all
  nacre jobs logs -f bg_1
  nacre jobs wait bg_1 --timeout 60 && nacre jobs logs bg_1 --tail 20
  nacre jobs stop bg_1
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="list|show|wait|logs|stop")
    for verb, text in (
        ("list", "the jobs of this project, oldest first"),
        ("show", "one job"),
        ("wait", "wait until a job has ended; exits with its code"),
        ("logs", "a job's output"),
        ("stop", "end a job and everything it started"),
    ):
        sub = subcommand(verbs, verb, text)
        if verb == "list":
            sub.add_argument("--all", action="store_true", help="those of other projects too")
            sub.add_argument("--outcome", choices=OUTCOMES, help="only jobs in this state")
        else:
            sub.add_argument("id", help="the job's id, e.g. bg_1")
        if verb == "wait":
            sub.add_argument("--timeout", type=float, metavar="S", help="give up after this many seconds (exit 124)")
        if verb == "logs":
            add_range(sub)
            sub.add_argument("-f", "--follow", action="store_true", help="go on until the job has ended")


def main(namespace: argparse.Namespace) -> int:
    table = JobTable(config.state_dir(os.environ))
    match namespace.verb:
        case "list":
            return _list(table, namespace)
        case "show":
            _print(table.get(namespace.id), as_json=namespace.json)
            return 0
        case "wait":
            return _wait(table, namespace.id, timeout=namespace.timeout, as_json=namespace.json)
        case "logs":
            return _logs(table, namespace)
        case _:
            return _stop(table, namespace.id, as_json=namespace.json)


def _list(table: JobTable, namespace: argparse.Namespace) -> int:
    listing, others = table.list(), 0
    if not namespace.all:
        listing, others = split(listing, None, path_lookup.project_of(config.working_directory()))
    if others:
        complain(others_line(others, "--all lists them"))
    for problem in listing.damaged:
        complain(f"left alone: {problem}")
    jobs = [job for job in listing.jobs if namespace.outcome in (None, job.outcome)]
    if namespace.json:
        print(json.dumps([_facts(job) for job in jobs]))
        return 0
    if not jobs:
        say("no jobs")
        return 0
    sheet = paper()
    sheet.header(f"  {'JOB':<8} {'OUTCOME':<16} {'AGE':>8}  COMMAND")
    for job in jobs:
        print(_line(job, sheet))
    return 0


def _facts(job: Job) -> dict[str, Any]:
    """Return the facts of a job without its note, which goes to stderr."""
    return {key: value for key, value in job.facts().items() if key != "note"}


def _line(job: Job, sheet: Paper) -> str:
    ended = job.record.get("endedAt") or time.time()
    age = f"{ended - job.record.get('startedAt', ended):.0f}s"
    status = f"{_status(job):<16}"
    before, after = f"{job.id:<8} ", f" {age:>8}  "
    command = sheet.command(job.record.get("command", ""), before=SIGN_COLUMNS + len(before) + len(status) + len(after))
    failed = not job.running and job.record.get("exitCode") != 0
    painted = status if job.running else sheet.paint(status, RED if failed else GREEN)
    sign = sheet.sign({**job.record, "outcome": None if job.running else job.outcome})
    return f"{sign}{before}{painted}{after}{command}"


def _status(job: Job) -> str:
    if job.state == "exited":
        return f"exited {job.record['exitCode']}"
    if job.state == "killed":
        return f"killed {job.record['signalName']}"
    return job.state.replace("_", " ")


def _print(job: Job, *, as_json: bool) -> None:
    facts = _facts(job)
    if job.note:
        complain(f"{job.id}: {job.note}")
    if as_json:
        print(json.dumps(facts))
        return
    if sys.stdout.isatty():
        _print_card(job)
        return
    for key, value in facts.items():
        print(f"{key:<12} {_spell(key, value)}")


def _print_card(job: Job) -> None:
    """Print the job as a card, with the end of its output."""
    from nacre.cli.card_printing import print_card
    from nacre.cli.job_card import card_of

    print_card(card_of(job), sys.stdout, hint=f"nacre jobs logs {job.id}")
    print(f"   {job.output_file}")


def _spell(key: str, value: Any) -> str:
    if key.endswith("At") and isinstance(value, int | float):
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(value))
    return "-" if value is None else str(value)


def _wait(table: JobTable, job_id: str, *, timeout: float | None, as_json: bool) -> int:
    if timeout is not None:
        # Other subcommands need not import the request module.
        from nacre.request import check_timeout

        check_timeout(timeout)
    job = table.get(job_id)
    if job.running and not (_wait_for_lock(job, timeout) if job.note is None else _wait_for_orphan(job, timeout)):
        complain(f"{job_id} is still running after {timeout:g} s")
        return 124
    job = table.get(job_id)
    _print(job, as_json=as_json)
    if job.state == "exited":
        return int(job.record["exitCode"])
    if job.state == "killed":
        return 128 + int(job.record["signal"])
    return 124 if job.state == "timed_out" else 125


def _wait_for_lock(job: Job, timeout: float | None) -> bool:
    """Wait for the lock that the runner holds until the final status is on disk; False on timeout."""
    lock = RunnerLock(job)
    end = None if timeout is None else time.monotonic() + timeout
    progress, look_at = None, time.monotonic() + PROGRESS_SECONDS
    try:
        while lock.held():
            if end is not None and time.monotonic() >= end:
                return False
            # A file lock cannot be awaited with a deadline.
            time.sleep(0.02)
            if time.monotonic() >= look_at and sys.stderr.isatty():
                from nacre.cli.job_card import JobProgress

                progress = progress or JobProgress(job)
                progress.look()
                look_at = time.monotonic() + PROGRESS_SECONDS
        return True
    finally:
        if progress is not None:
            progress.close()
        lock.close()


def _wait_for_orphan(job: Job, timeout: float | None) -> bool:
    """Wait for the shell of a job without a runner; False on timeout."""
    try:
        handle = os.pidfd_open(job.record["pid"])
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], timeout)[0])
    finally:
        os.close(handle)


def _logs(table: JobTable, namespace: argparse.Namespace) -> int:
    if namespace.follow and (namespace.json or namespace.lines is not None or namespace.limit is not None):
        raise InvalidRequestError("--follow has no end; leave out --json, --lines and --limit", field="follow")
    job = table.get(namespace.id)
    with JobFile.open(job) as file:
        for notice in file.notices:
            complain(f"{job.id}: {notice}")
        if namespace.json:
            print(json.dumps({"id": job.id, **range_facts(file, namespace)}))
        else:
            print_range(file, namespace)
        end = file.end
    if namespace.follow:
        _follow(table, namespace, max(end, namespace.offset))
    return 0


def _follow(table: JobTable, namespace: argparse.Namespace, offset: int) -> None:
    """Print what comes after the offset, until the job has ended."""
    running = True
    while running:
        sys.stdout.flush()
        time.sleep(LOOK_SECONDS)
        # Asked first: what the job writes before its end is then read after it.
        job = table.get(namespace.id)
        running = job.running
        with JobFile.open(job) as file:
            namespace.offset, namespace.tail = offset, None
            print_range(file, namespace)
            offset = max(offset, file.end)


def _stop(table: JobTable, job_id: str, *, as_json: bool) -> int:
    job = table.stop(job_id)
    if job.running:
        grace = config.load(os.environ, cwd=config.working_directory()).settings.execution.grace_seconds
        _wait_for_lock(job, (15.0 if grace is None else grace) + 2.0)
    else:
        complain(f"{job_id} had ended already")
    job = table.get(job_id)
    _print(job, as_json=as_json)
    return 1 if job.running else 0
