"""The entry: shortens an output for a model, or says that it stays as it is.

The steps: settle redraws, mark evidence, hide the noise of the command's families, fold repeats, shorten listings. No
row that a detector recognises is hidden, only counted markers are added, and a text that is not much shorter is not
swapped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nacre.minimize.calls import segments_of
from nacre.minimize.evidence import Detector, detectors, mark_evidence
from nacre.minimize.families import Family, hide_noise
from nacre.minimize.listings import LISTINGS
from nacre.minimize.row_stages import STAGES, fold_repeats, fold_runs
from nacre.minimize.rows import Row, hidden_bytes, hidden_kinds, render, restored, rows_of
from nacre.minimize.selection import select_for
from nacre.output.escapes import strip
from nacre.output.lines import settle

# A shortened text is worth its loss only if it saves so much.
LEAST_SAVED = 0.30
LEAST_SAVED_BYTES = 1024
# A longer text stays as it is: the window shortens it.
MOST_BYTES = 4 * 1024 * 1024
MOST_ROWS = 200_000
# How many last rows with text stay if the command failed; otherwise one stays.
FLOOR_ROWS = 3

FOOTER = re.compile(r"^\[hidden: .*; \d+ bytes(?:; 0 error lines hidden)?\]$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Minimised:
    """A shortened text."""

    text: str
    filter: str
    """The families that shortened it."""
    raw_bytes: int
    shown_bytes: int


@dataclass(frozen=True, slots=True)
class Shortened:
    """What is left of a text, before its saving is judged."""

    text: str
    filter: str
    footer: str


def minimise(
    command: str,
    exit_code: int | None,
    text: str,
    families: Sequence[Family] | None = None,
    extra_detectors: Sequence[Detector] = (),
) -> Minimised | None:
    """Shorten the output of a command; None when it stays as it is."""
    raw_bytes = len(text.encode("utf-8", "surrogatepass"))
    if raw_bytes < LEAST_SAVED_BYTES or raw_bytes > MOST_BYTES or text.count("\n") > MOST_ROWS:
        return None
    found = shorten(command, exit_code, text, families, extra_detectors)
    if found is None:
        return None
    return swapped(text, f"{found.text}\n{found.footer}" if found.footer else found.text, found.filter)


def swapped(raw: str, shown: str, names: str) -> Minimised | None:
    """The shorter text in the place of the raw one; None if it saves too little."""
    raw_bytes, shown_bytes = (len(text.encode("utf-8", "surrogatepass")) for text in (raw, shown))
    saved = raw_bytes - shown_bytes
    if saved < LEAST_SAVED_BYTES or saved < LEAST_SAVED * raw_bytes:
        return None
    return Minimised(shown, names, raw_bytes, shown_bytes)


def shorten(
    command: str,
    exit_code: int | None,
    text: str,
    families: Sequence[Family] | None = None,
    extra_detectors: Sequence[Detector] = (),
) -> Shortened | None:
    """Shorten a text whatever that saves; None when no part of it may be hidden."""
    if FOOTER.search(text[-1000:]):
        # Shortened before: text is shortened once.
        return None
    plain = settle(strip(text)).text
    if not plain.strip():
        return None
    rows: list[Row] = []
    names: list[str] = []
    segments = segments_of(command, plain)
    for segment in segments:
        selection = select_for(segment.calls, segment.text, families)
        if selection.scope == "none" and len(segments) == 1:
            return None
        if segment.heading is not None:
            rows.append(Row(segment.heading, shown=segment.heading, is_evidence=True, stays=True))
        found = rows_of(segment.text)
        if selection.scope in ("tools", "generic") and (segment.calls or len(segments) == 1):
            mark_evidence(found, segment.text, (*detectors(), *extra_detectors))
            # How an earlier command of a chain ended is not known.
            _shorten_rows(found, selection.families, failed=exit_code != 0 or segment is not segments[-1])
            names += [family.name for family in selection.families] or ["generic"]
        rows += found
    if not names:
        return Shortened(plain, "lossless", "")
    return Shortened(render(rows), "+".join(dict.fromkeys(names)), _footer(rows, exit_code, plain))


def _shorten_rows(rows: list[Row], families: Sequence[Family], *, failed: bool) -> None:
    _keep_floor(rows, FLOOR_ROWS if failed else 1)
    for family in families:
        hide_noise(rows, family, failed=failed)
    for stage in dict.fromkeys(stage for family in families for stage in family.stages):
        (STAGES.get(stage) or LISTINGS[stage])(rows)
    if not families:
        fold_runs(rows)
        fold_repeats(rows)
    restored(rows)


def _keep_floor(rows: list[Row], count: int) -> None:
    """Keep the last rows: a verdict that no detector knows stands there."""
    for row in [row for row in rows if row.raw.strip()][-count:]:
        row.is_evidence = row.stays = True


def _footer(rows: list[Row], exit_code: int | None, text: str) -> str:
    hidden = hidden_kinds(rows)
    if not hidden:
        return ""
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(hidden.items(), key=lambda one: -one[1]))
    # Below a success that speaks of no error the word would read like one.
    promise = "; 0 error lines hidden" if exit_code != 0 or "error" in text.lower() else ""
    return f"[hidden: {kinds}; {hidden_bytes(rows)} bytes{promise}]"
