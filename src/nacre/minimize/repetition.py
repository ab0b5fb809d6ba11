"""The same command again: what its output says that the last one did not. Pure.

Lines of the last run are counted and not shown. Times and addresses are no difference; every other digit is.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from nacre.minimize.evidence import detectors, mark_evidence
from nacre.minimize.minimiser import FLOOR_ROWS, Minimised, swapped
from nacre.minimize.rows import rows_of
from nacre.output.escapes import strip
from nacre.output.lines import settle

# What differs between two runs that say the same.
_PASSING = re.compile(
    r"\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|sec|secs|seconds|min)\b|\d\d:\d\d:\d\d(?:[.,]\d+)?|\b0x[0-9a-fA-F]+\b|/tmp/\S+"
)
# A longer output is not remembered.
MOST_LINES = 20_000


class Remembered(NamedTuple):
    """The lines of a run, and where all of it is."""

    lines: frozenset[str]
    artifact_id: int | None
    """None if all of it was shown."""


def lines_of(raw: str) -> frozenset[str] | None:
    """What is remembered of an output; None if it is too long for that."""
    lines = settle(strip(raw)).text.split("\n")
    return None if len(lines) > MOST_LINES else frozenset(map(_form, lines))


def difference(last: Remembered, raw: str, found: Minimised | None) -> Minimised | None:
    """Show what the last run did not say; None if that saves too little.

    The last lines stay whatever they say: a verdict stands there.

    Args:
        found: the shortened output; None if it is shown as it is.
    """
    shown = settle(strip(raw)).text if found is None else found.text.replace("; 0 error lines hidden]", "]")
    rows = rows_of(shown)
    mark_evidence(rows, shown, detectors())
    said = [row for row in rows if row.raw.strip()]
    same = [row for row in said[: -FLOOR_ROWS - 1] if _form(row.raw) in last.lines]
    hidden = {id(row) for row in same}
    counted = f"{_lines(len(same))}, {sum(row.is_evidence for row in same)} of them errors or warnings"
    gone = len(last.lines - (lines_of(raw) or frozenset()))
    where = "" if last.artifact_id is None else f" (artifact://{last.artifact_id})"
    marker = f"[as in the last run{where}: {counted}; no longer said: {_lines(gone)}; new or last lines follow]"
    text = "\n".join([marker, *(row.shown for row in said if id(row) not in hidden)])
    names = "differences" if found is None else f"{found.filter}+differences"
    return swapped(raw, text, names) if same else None


def _form(line: str) -> str:
    return _PASSING.sub("#", line).strip()


def _lines(count: int) -> str:
    return f"{count} line{'' if count == 1 else 's'}"
