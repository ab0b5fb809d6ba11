"""`nacre artifacts`: lists, shows, searches and prunes the kept outputs of this state directory."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

from nacre import audit, config
from nacre.artifacts.opening import ArtifactEntry
from nacre.artifacts.store import ArtifactStore
from nacre.artifacts.stored import Line
from nacre.cli.frame import say
from nacre.cli.listing import SIGN_COLUMNS, paper
from nacre.cli.output_range import add_range, count, line_facts, note_gap, print_range, range_facts
from nacre.cli.parser import subcommand
from nacre.errors import InvalidRequestError, NacreError
from nacre.output.decode import decode
from nacre.output.escapes import strip
from nacre.output.sizes import human_size

DAY_SECONDS = 86_400

EPILOG = """\
examples:
  nacre artifacts list
  nacre artifacts show 7 --tail 50
  nacre artifacts show 7 --lines 100:150
  nacre artifacts grep 'error|warning' 7
  nacre artifacts prune --days 1
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="list|show|grep|prune")
    listing = subcommand(verbs, "list", "every artifact, oldest first")
    listing.set_defaults(act=_list)

    show = subcommand(verbs, "show", "an artifact's output, all of it or a range")
    show.add_argument("id", type=_artifact_id, help="the artifact's id, e.g. 7")
    add_range(show)
    show.set_defaults(act=_show)

    grep = subcommand(verbs, "grep", "the lines of artifacts in which a regular expression is found; exits 1 for none")
    grep.add_argument("pattern", help="a Python regular expression")
    grep.add_argument("ids", nargs="*", type=_artifact_id, metavar="ID", help="which artifacts; all without any")
    grep.set_defaults(act=_grep)

    prune = subcommand(verbs, "prune", "remove old artifacts, and the oldest beyond a total size")
    prune.add_argument("--days", type=float, metavar="N", help="remove those older than this (default: the settings)")
    prune.add_argument("--bytes", type=count, metavar="N", help="keep at most this much in all (default: the settings)")
    prune.set_defaults(act=_prune)


def main(namespace: argparse.Namespace, *, root: Path | None = None) -> int:
    store = ArtifactStore(os.path.join(config.state_dir(os.environ), "artifacts") if root is None else root)
    return int(namespace.act(store, namespace))


def _list(store: ArtifactStore, namespace: argparse.Namespace) -> int:
    entries, calls = store.list(), _calls()
    if namespace.json:
        print(json.dumps([_facts(entry, calls) for entry in entries]))
        return 0
    if not entries:
        say("no artifacts")
        return 0
    sheet = paper()
    sheet.header(f"  {'ID':<5} {'KIND':<13} {'TIME':<19}  {'SIZE':>9}  {'STATE':<11} COMMAND")
    for entry in entries:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.written_at))
        size = human_size(entry.total_bytes)
        dropped = f" ({human_size(entry.dropped_bytes)} dropped)" if entry.dropped_bytes else ""
        # A person wants the command, a program the path: a terminal has no room for both.
        path = f"{entry.path}  " if sheet.columns is None else ""
        row = f"{entry.id:<5} {entry.kind:<13} {when}  {size:>9}{dropped}  {entry.state:<11} {path}"
        call = calls.get(entry.id)
        sign = sheet.sign({} if call is None else call)
        command = "-" if call is None else sheet.command(call.get("command", ""), before=SIGN_COLUMNS + len(row))
        print(f"{sign}{row}{command}")
    return 0


def _calls() -> dict[int, dict[str, Any]]:
    """Return the call in the log that made each artifact; a log that cannot be read has none."""
    with contextlib.suppress(NacreError):
        return {
            number: entry
            for entry in audit.entries(config.state_dir(os.environ))
            for number in (*entry.get("artifacts", ()), entry.get("recording"))
            if number is not None
        }
    return {}


def _show(store: ArtifactStore, namespace: argparse.Namespace) -> int:
    with store.open(namespace.id) as artifact:
        calls = _calls()
        if namespace.json:
            print(json.dumps({**_facts(artifact.entry, calls), **range_facts(artifact, namespace)}))
            return 0
        if sys.stdout.isatty() and sys.stderr.isatty() and namespace.id in calls:
            from nacre.cli.card_printing import card_of_entry, print_head

            print_head(card_of_entry(calls[namespace.id]), sys.stderr)
        print_range(artifact, namespace)
    return 0


def _grep(store: ArtifactStore, namespace: argparse.Namespace) -> int:
    try:
        pattern = re.compile(namespace.pattern)
    except re.error as error:
        raise InvalidRequestError(
            f"{namespace.pattern!r} is no regular expression: {error}", field="pattern"
        ) from error
    ids = namespace.ids or [entry.id for entry in store.list()]
    matches = 0
    for artifact_id in ids:
        with store.open(artifact_id) as artifact:
            for item in artifact.grep(pattern):
                matches += isinstance(item, Line)
                if namespace.json:
                    print(json.dumps({"id": artifact_id, **line_facts(item)}))
                elif isinstance(item, Line):
                    where = f"{artifact_id}:{item.number}" if len(ids) > 1 else f"{item.number}"
                    print(f"{where}:{strip(decode(item.data))}")
                else:
                    note_gap(item)
    return 0 if matches else 1


def _prune(store: ArtifactStore, namespace: argparse.Namespace) -> int:
    settings = config.load(os.environ, cwd=config.working_directory()).settings.output
    report = store.prune(
        max_age_seconds=(settings.artifact_days if namespace.days is None else namespace.days) * DAY_SECONDS,
        max_total_bytes=settings.artifact_store_bytes if namespace.bytes is None else namespace.bytes,
    )
    if namespace.json:
        facts = {"removed": report.removed, "freedBytes": report.freed_bytes}
        print(json.dumps({**facts, "kept": report.kept, "keptBytes": report.kept_bytes}))
    else:
        print(f"removed {len(report.removed)} ({human_size(report.freed_bytes)}), ", end="")
        print(f"kept {report.kept} ({human_size(report.kept_bytes)})")
    return 0


def _facts(entry: ArtifactEntry, calls: dict[int, dict[str, Any]]) -> dict[str, object]:
    return {
        "id": entry.id,
        "kind": entry.kind,
        "command": calls[entry.id].get("command") if entry.id in calls else None,
        "path": entry.path,
        "state": entry.state,
        "totalBytes": entry.total_bytes,
        "storedBytes": entry.stored_bytes,
        "droppedBytes": entry.dropped_bytes,
        "writtenAt": entry.written_at,
    }


def _artifact_id(text: str) -> int:
    number = text.removeprefix("artifact://")
    if not (number.isascii() and number.isdigit()):
        raise argparse.ArgumentTypeError(f"an artifact id is a number, not {text!r}; see nacre artifacts list")
    return int(number)
