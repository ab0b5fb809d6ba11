"""`nacre artifacts`: lists, shows, searches and prunes the kept outputs of this state directory.

Offsets and line numbers are those of the whole output; stderr tells where its cap dropped bytes. A terminal gets the
output without escape sequences, which could act on that terminal.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from nacre import config
from nacre.artifacts.opening import Artifact, ArtifactEntry
from nacre.artifacts.store import ArtifactStore
from nacre.artifacts.stored import Gap, Line
from nacre.cli.frame import complain, say
from nacre.cli.parser import subcommand
from nacre.errors import InvalidRequestError
from nacre.output.decode import IncrementalDecoder, decode
from nacre.output.escapes import EscapeFilter, strip
from nacre.output.sizes import human_size
from nacre.wording import were

DAY_SECONDS = 86_400

# A JSON object is built in memory, so without --limit it has this much and an offset to continue at.
JSON_BYTES = 1024 * 1024

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
    show.add_argument("--offset", type=_count, default=0, metavar="BYTE", help="begin at this byte of the output")
    show.add_argument("--limit", type=_count, metavar="BYTES", help="at most this many bytes")
    ranges = show.add_mutually_exclusive_group()
    ranges.add_argument("--lines", type=_line_range, metavar="A:B", help="lines A to B, counted from 1")
    ranges.add_argument("--tail", type=_count, metavar="N", help="the last N lines")
    show.set_defaults(act=_show)

    grep = subcommand(verbs, "grep", "the lines of artifacts in which a regular expression is found; exits 1 for none")
    grep.add_argument("pattern", help="a Python regular expression")
    grep.add_argument("ids", nargs="*", type=_artifact_id, metavar="ID", help="which artifacts; all without any")
    grep.set_defaults(act=_grep)

    prune = subcommand(verbs, "prune", "remove old artifacts, and the oldest beyond a total size")
    prune.add_argument("--days", type=float, metavar="N", help="remove those older than this (default: the settings)")
    prune.add_argument(
        "--bytes", type=_count, metavar="N", help="keep at most this much in all (default: the settings)"
    )
    prune.set_defaults(act=_prune)


def main(namespace: argparse.Namespace, *, root: Path | None = None) -> int:
    store = ArtifactStore(os.path.join(config.state_dir(os.environ), "artifacts") if root is None else root)
    return int(namespace.act(store, namespace))


def _list(store: ArtifactStore, namespace: argparse.Namespace) -> int:
    entries = store.list()
    if namespace.json:
        print(json.dumps([_facts(entry) for entry in entries]))
    elif not entries:
        say("no artifacts")
    else:
        for entry in entries:
            when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.written_at))
            size = human_size(entry.total_bytes)
            dropped = f" ({human_size(entry.dropped_bytes)} dropped)" if entry.dropped_bytes else ""
            print(f"{entry.id:<5} {entry.kind:<8} {when}  {size:>9}{dropped}  {entry.state:<11} {entry.path}")
    return 0


def _show(store: ArtifactStore, namespace: argparse.Namespace) -> int:
    with store.open(namespace.id) as artifact:
        if namespace.json:
            _show_object(artifact, namespace)
        elif namespace.lines is not None:
            first, last = namespace.lines
            _print_lines(artifact.lines(first - 1, None if last is None else max(0, last - first + 1)))
        elif namespace.tail is not None:
            _Screen().write(artifact.tail(namespace.tail).data)
        else:
            _print_bytes(artifact, offset=namespace.offset, limit=namespace.limit)
    return 0


def _show_object(artifact: Artifact, namespace: argparse.Namespace) -> None:
    limit = JSON_BYTES if namespace.limit is None else namespace.limit
    if namespace.lines is not None:
        first, last = namespace.lines
        found = artifact.lines(first - 1, None if last is None else max(0, last - first + 1))
        print(json.dumps({**_facts(artifact.entry), "lines": [_line_facts(item) for item in found]}))
        return
    piece = artifact.read(namespace.offset, limit) if namespace.tail is None else artifact.tail(namespace.tail, limit)
    answer = {"offset": piece.offset, "nextOffset": piece.end, "skippedBytes": piece.skipped_bytes}
    print(json.dumps({**_facts(artifact.entry), **answer, "text": decode(piece.data)}))


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
                    print(json.dumps({"id": artifact_id, **_line_facts(item)}))
                elif isinstance(item, Line):
                    where = f"{artifact_id}:{item.number}" if len(ids) > 1 else f"{item.number}"
                    print(f"{where}:{strip(decode(item.data))}")
                else:
                    _note(item)
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


def _print_bytes(artifact: Artifact, *, offset: int, limit: int | None) -> None:
    screen = _Screen()
    for piece in artifact.blocks(offset):
        if limit == 0:
            return
        if piece.skipped_bytes:
            _note(Gap(piece.skipped_bytes))
        screen.write(piece.data[:limit])
        limit = None if limit is None else max(0, limit - len(piece.data))


def _print_lines(items: Iterable[Line | Gap]) -> None:
    screen = _Screen()
    for item in items:
        if isinstance(item, Gap):
            _note(item)
            continue
        screen.write(item.data + b"\n")
        if item.cut_bytes:
            _note(Gap(item.cut_bytes))


class _Screen:
    """Writes bytes to stdout unchanged; a terminal gets text without escapes."""

    def __init__(self) -> None:
        self._watched = sys.stdout.isatty()
        self._text = IncrementalDecoder("replace")
        self._escapes = EscapeFilter()

    def write(self, data: bytes) -> None:
        if self._watched:
            sys.stdout.write(self._escapes.feed(self._text.decode(data)))
        else:
            sys.stdout.buffer.write(data)


def _note(gap: Gap) -> None:
    """Report missing bytes on stderr, after flushing stdout so that the order is right."""
    sys.stdout.flush()
    done = "not searched, of a long line" if gap.reason == "unsearched" else "dropped here"
    complain(f"{were(gap.bytes, 'byte')} {done}")


def _facts(entry: ArtifactEntry) -> dict[str, object]:
    return {
        "id": entry.id,
        "kind": entry.kind,
        "path": entry.path,
        "state": entry.state,
        "totalBytes": entry.total_bytes,
        "storedBytes": entry.stored_bytes,
        "droppedBytes": entry.dropped_bytes,
        "writtenAt": entry.written_at,
    }


def _line_facts(item: Line | Gap) -> dict[str, object]:
    if isinstance(item, Gap):
        return {"gapBytes": item.bytes, "reason": item.reason}
    return {"line": item.number, "text": decode(item.data), "cutBytes": item.cut_bytes}


def _artifact_id(text: str) -> int:
    number = text.removeprefix("artifact://")
    if not (number.isascii() and number.isdigit()):
        raise argparse.ArgumentTypeError(f"an artifact id is a number, not {text!r}; see nacre artifacts list")
    return int(number)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 on")
    return int(text)


def _line_range(text: str) -> tuple[int, int | None]:
    first, colon, last = text.partition(":")
    numbers = [part for part in (first, last) if part]
    if not numbers or not all(part.isascii() and part.isdigit() for part in numbers):
        raise argparse.ArgumentTypeError(f"{text!r} is not a range of lines; write 10:20, 10: or :20")
    start = max(1, int(first or 1))
    return start, int(last) if last else None if colon else start
