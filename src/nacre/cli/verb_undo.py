"""`nacre undo`: lists what was saved before destructive commands, and restores it."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from typing import Any

from nacre import config
from nacre.cli.frame import complain, say
from nacre.cli.listing import paper
from nacre.errors import InvalidRequestError, JobError
from nacre.jobs.table import JobTable
from nacre.output.sizes import human_size
from nacre.undo.restoring import Step, plan, restore
from nacre.undo.undo_store import UndoEntry, UndoStore
from nacre.wording import counted

EPILOG = """\
Saving is off unless you turn it on: NACRE_UNDO=on, or in your nacre.toml: [undo] mode = "on".

examples:
  nacre undo list
  nacre undo --dry-run              what the undo of the newest command would change
  nacre undo                        shows that, asks, restores
  nacre undo undo_3 --yes
"""

_WORDS = {"restore": "restore", "revert": "revert ", "remove": "remove ", "skip": "skip   "}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what",
        nargs="?",
        metavar="list|ID",
        help="list what was saved; or restore this, e.g. undo_3 (default: the newest)",
    )
    parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--overwrite", action="store_true", help="restore also what was changed since the command")
    parser.add_argument("--json", action="store_true", help="print objects instead of text")


def main(namespace: argparse.Namespace) -> int:
    loaded = config.load(os.environ, cwd=config.working_directory())
    store = UndoStore(loaded.state_dir)
    if namespace.what == "list":
        return _list(store, as_json=namespace.json)
    entry = store.newest() if namespace.what is None else store.get(namespace.what)
    if entry is None:
        off = loaded.settings.undo.mode == "off"
        say(f"nothing to undo{'; saving is off (NACRE_UNDO=on turns it on)' if off else ''}")
        return 0
    steps = plan(entry, overwrite=namespace.overwrite, ended_at=_ended_at(loaded.state_dir, entry))
    acts = any(step.action != "skip" for step in steps)
    if not namespace.json:
        _show(entry, steps)
    if namespace.dry_run or not acts:
        if namespace.json:
            print(json.dumps({"id": entry.id, "steps": _facts(steps), "restored": False}))
        elif not acts:
            say("nothing to restore")
        return 0
    if not namespace.yes and not _agreed():
        complain("nothing was restored")
        return 1
    outcome = restore(store, entry, steps, loaded.settings.undo)
    if namespace.json:
        facts = {"id": entry.id, "steps": _facts([*outcome.done, *outcome.skipped]), "restored": True}
        print(json.dumps({**facts, "presentSavedAs": outcome.saved}))
    else:
        for step in outcome.skipped[len([step for step in steps if step.action == "skip"]) :]:
            complain(f"{step.path} is not restored: {step.reason}")
        print(f"restored {counted(len(outcome.done), 'path')}; `nacre undo {outcome.saved}` takes that back")
    return 0 if not outcome.skipped else 1


def _ended_at(state_dir: str, entry: UndoEntry) -> float | None:
    """Return when the job of an entry ended; raises while it runs."""
    job_id = entry.facts.get("jobId")
    if entry.state != "running" or job_id is None:
        return None
    try:
        job = JobTable(state_dir).get(job_id)
    except JobError:
        # Forgotten by now: what the job left is not known.
        return None
    if job.running:
        raise InvalidRequestError(
            f"{entry.id} belongs to job {job_id}, which still runs; `nacre jobs stop {job_id}` ends it", field="id"
        )
    ended = job.record.get("endedAt")
    return float(ended) if isinstance(ended, int | float) else None


def _list(store: UndoStore, *, as_json: bool) -> int:
    entries = store.list()
    if as_json:
        print(json.dumps([_entry_facts(entry) for entry in entries]))
        return 0
    if not entries:
        say("nothing was saved")
        return 0
    sheet = paper()
    sheet.header(f"{'ID':<9} {'TIME':<19}  {'SIZE':>9}  {'STATE':<7} COMMAND")
    for entry in entries:
        when = _time(entry.facts["savedAt"])
        row = f"{entry.id:<9} {when}  {human_size(entry.facts.get('bytes', 0)):>9}  {entry.state:<7} "
        print(f"{row}{sheet.command(entry.facts.get('command', ''), before=len(row))}")
    return 0


def _show(entry: UndoEntry, steps: list[Step]) -> None:
    where = entry.facts.get("cwd", "")
    print(f"{entry.id}: {json.dumps(entry.facts.get('command', ''))} in {where}, {_time(entry.facts['savedAt'])}")
    for problem in entry.facts.get("problems", ()):
        complain(f"not all was saved: {problem}")
    for step in steps:
        path = os.path.relpath(step.path, where) if step.path.startswith(f"{where}/") else step.path
        reason = f"  ({step.reason}; --overwrite restores it too)" if step.action == "skip" else ""
        print(f"{_WORDS[step.action]}  {printable(path)}{reason}")


def printable(path: str) -> str:
    """Return a path on one line; one with control characters is quoted as JSON."""
    return path if path.isprintable() else json.dumps(path)


def _agreed() -> bool:
    if not sys.stdin.isatty():
        complain("no person can be asked here; --yes restores without a question")
        return False
    print("Restore this? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _facts(steps: list[Step]) -> list[dict[str, Any]]:
    return [
        {"action": step.action, "path": step.path, **({"reason": step.reason} if step.reason else {})} for step in steps
    ]


def _entry_facts(entry: UndoEntry) -> dict[str, Any]:
    facts = entry.facts
    return {
        "id": entry.id,
        "command": facts.get("command"),
        "cwd": facts.get("cwd"),
        "state": entry.state,
        "savedAt": facts.get("savedAt"),
        "bytes": facts.get("bytes", 0),
        "jobId": facts.get("jobId"),
        "undoes": facts.get("undoes"),
        "problems": facts.get("problems", []),
    }
