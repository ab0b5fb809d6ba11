"""The calls of the time before the page was served, from the audit log: what was run and how it ended.

The log has no output: what was kept of it is in artifacts and in the files of jobs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from nacre import audit
from nacre.errors import NacreError
from nacre.feed.card import Card, take
from nacre.output.redaction.redactor import Redactor
from nacre.state_directory import files
from nacre.warden.log_line import open_for_reading

MOST_PAST = 50
# Fifty calls with long commands; of longer ones there are fewer.
TAIL_BYTES = 512 * 1024


def past_calls(state_dir: str, redactor: Redactor) -> list[Card]:
    """Return the newest calls that have ended, the oldest first; none if the log cannot be read, as the chart says."""
    log = os.path.join(os.path.abspath(state_dir), audit.NAME)
    try:
        lines = files(os.path.dirname(log)).call(_newest_lines, log)
    except (OSError, NacreError):
        return []
    entries = (audit.decode_line(line.decode("ascii", "replace")) for line in lines)
    return cards_of([entry for entry in entries if entry is not None], redactor)[-MOST_PAST:]


def cards_of(entries: Iterable[Mapping[str, Any]], redactor: Redactor) -> list[Card]:
    """Return a card for each call that has ended, in the order of their ends. Pure."""
    found: dict[str, Card] = {}
    for entry in entries:
        # The start of a job has an entry of its own; while it runs, the feed tells of it.
        if not _is_end(entry):
            continue
        call = str(entry["call"])
        found.pop(call, None)
        found[call] = _card(call, entry, redactor)
    return list(found.values())


def _is_end(entry: Mapping[str, Any]) -> bool:
    named = isinstance(entry.get("call"), str) and isinstance(entry.get("command"), str)
    return named and isinstance(entry.get("time"), int | float) and entry.get("outcome") not in (None, "background")


def _card(call: str, entry: Mapping[str, Any], redactor: Redactor) -> Card:
    # Values that are hidden since then are hidden here too.
    texts = {name: redactor.redact_text(str(entry[name])) for name in ("command", "cwd", "error") if entry.get(name)}
    facts = {**entry, **texts}
    took = entry.get("durationMs")
    began = entry["time"] - (took / 1000 if isinstance(took, int | float) else 0)
    card = Card(call=call)
    take(card, {**facts, "event": "start", "startedAt": entry.get("startedAt") or began})
    take(card, {**facts, "event": "end"})
    sizes = (entry.get("stdoutBytes"), entry.get("stderrBytes"))
    card.tail.missing_bytes = sum(size for size in sizes if isinstance(size, int))
    return card


def _newest_lines(log: str) -> list[bytes]:
    data = b""
    for path in (log, f"{log}.1"):
        try:
            fd = open_for_reading(path, os.O_RDONLY)
        except FileNotFoundError:
            continue
        try:
            start = max(0, os.fstat(fd).st_size - (TAIL_BYTES - len(data)))
            piece = os.pread(fd, TAIL_BYTES - len(data), start)
        finally:
            os.close(fd)
        if start:
            # A line that is cut is no line, and what was before it is not told without it.
            return (piece[piece.find(b"\n") + 1 :] + data).splitlines()
        data = piece + data
    return data.splitlines()
