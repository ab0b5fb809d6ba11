"""The entry: shortens an output for a model, or says that nothing may be shortened.

The steps: settle redraws, mark evidence, hide the noise of the command's families, fold repeats, shorten listings. Nothing
that a detector recognises is hidden, no word is added but counted markers, and a text that is not much shorter is not
swapped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nacre.minimize.evidence import mark_evidence
from nacre.minimize.filters import Family, built_in, hide_noise
from nacre.minimize.listings import LISTINGS
from nacre.minimize.rows import Row, hidden_kinds, render, rows_of
from nacre.minimize.selection import select
from nacre.minimize.stages import STAGES, fold_repeats, fold_runs
from nacre.output.escapes import strip
from nacre.output.lines import settle

# A shortened text is worth its loss only if it saves so much.
LEAST_SAVED = 0.30
LEAST_SAVED_BYTES = 1024
# More is not looked at: it stays windowed.
MOST_BYTES = 4 * 1024 * 1024
# Of a command that failed, so many last rows with text stay, whatever they are; of any other the last one.
FLOOR_ROWS = 3


@dataclass(frozen=True, slots=True)
class Minimised:
    """A shortened text."""

    text: str
    filter: str
    """The families that shortened it."""
    raw_bytes: int
    shown_bytes: int


def minimise(command: str, exit_code: int | None, text: str, families: Sequence[Family] | None = None) -> Minimised | None:
    """Shorten the output of a command; None when it stays as it is."""
    raw_bytes = len(text.encode("utf-8", "surrogatepass"))
    if raw_bytes < LEAST_SAVED_BYTES or raw_bytes > MOST_BYTES:
        return None
    plain = settle(strip(text)).text
    selection = select(command, plain, built_in() if families is None else families)
    if selection.scope == "none":
        return None
    rows = rows_of(plain)
    name = "lossless"
    if selection.scope != "lossless":
        mark_evidence(rows, plain)
        _shorten(rows, selection.families, failed=exit_code != 0)
        name = "+".join(family.name for family in selection.families) or "generic"
    shown = render(rows)
    if exit_code != 0 and not shown.strip():
        return None
    if hidden := hidden_kinds(rows):
        shown = f"{shown}\n{_footer(hidden, has_evidence=exit_code != 0)}"
    shown_bytes = len(shown.encode("utf-8", "surrogatepass"))
    saved = raw_bytes - shown_bytes
    if saved < LEAST_SAVED_BYTES or saved < LEAST_SAVED * raw_bytes:
        return None
    return Minimised(shown, name, raw_bytes, shown_bytes)


def _shorten(rows: list[Row], families: Sequence[Family], *, failed: bool) -> None:
    _keep_floor(rows, FLOOR_ROWS if failed else 1)
    for family in families:
        hide_noise(rows, family, failed=failed)
    stages = dict.fromkeys(stage for family in families for stage in family.stages)
    for stage in stages:
        run = STAGES.get(stage) or LISTINGS.get(stage)
        assert run is not None, stage
        run(rows)
    if not families:
        fold_runs(rows)
        fold_repeats(rows)


def _keep_floor(rows: list[Row], count: int) -> None:
    """The last rows stay: a verdict that no detector knows stands there."""
    for row in [row for row in rows if row.raw.strip()][-count:]:
        row.is_evidence = row.stays = True


def _footer(hidden: dict[str, int], *, has_evidence: bool) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(hidden.items(), key=lambda one: -one[1]))
    return f"[hidden: {kinds}; 0 error lines hidden]" if has_evidence else f"[hidden: {kinds}]"
