"""Spells what a try changes: every deleted path, and as many of the others as an answer has room for. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from nacre.tries.overlay_changes import PathChange
from nacre.wording import counted

# Added and modified paths that an answer names.
SHOWN_PATHS = 40
# Beyond this many, a directory that is deleted as a whole stands for what is in it.
SINGLE_DELETIONS = 400


def counts_of(changes: Iterable[PathChange]) -> dict[str, int]:
    """Return how many paths are added, modified and deleted."""
    counts = {"added": 0, "modified": 0, "deleted": 0}
    for change in changes:
        counts[change.kind] += 1
    return counts


def summary_of(changes: list[PathChange]) -> str:
    """Spell the counts."""
    parts = [f"{count} {kind}" for kind, count in counts_of(changes).items() if count]
    return ", ".join(parts) or "nothing changed"


def lines_of(changes: Iterable[PathChange]) -> list[str]:
    """Spell every change on a line of its own."""
    return [f"{change.kind:<8}  {_spell(change)}" for change in changes]


def is_shortened(changes: list[PathChange]) -> bool:
    """True if an answer has no room for every path."""
    deleted = sum(change.kind == "deleted" for change in changes)
    return deleted > SINGLE_DELETIONS or len(changes) - deleted > SHOWN_PATHS


def shown_lines(changes: list[PathChange], whole: str | None = None) -> list[str]:
    """Spell all deletions, and of the others what an answer has room for.

    Args:
        whole: where the whole list is.
    """
    deleted = [change for change in changes if change.kind == "deleted"]
    others = [change for change in changes if change.kind != "deleted"]
    lines = lines_of(deleted) if len(deleted) <= SINGLE_DELETIONS else _folded(deleted)
    lines += lines_of(others[:SHOWN_PATHS])
    if len(others) > SHOWN_PATHS:
        where = f"; the whole list: {whole}" if whole is not None else ""
        lines.append(f"… and {counted(len(others) - SHOWN_PATHS, 'more path')} added or modified{where}")
    return lines


def _folded(deleted: list[PathChange]) -> list[str]:
    """Spell deletions with the outermost directories in place of what was in them."""
    lines: list[str] = []
    outer, inside = "", 0
    for change in deleted:
        if outer and change.path.startswith(outer):
            inside += 1
            continue
        if outer:
            lines[-1] += f" and all below it ({counted(inside, 'path')})"
        outer, inside = (f"{change.path}/", 0) if change.is_directory else ("", 0)
        lines += lines_of([change])
    if outer:
        lines[-1] += f" and all below it ({counted(inside, 'path')})"
    return lines


def _spell(change: PathChange) -> str:
    path = change.path + ("/" if change.is_directory else "")
    text = path if path.isprintable() else json.dumps(path)
    if change.kind == "modified" and change.before is not None and change.after is not None:
        before, after = change.before, change.after
        if before.kind != after.kind:
            text += f" ({before.kind} → {after.kind})"
        elif before.mode != after.mode:
            text += f" (mode {before.mode:o} → {after.mode:o})"
    return text


def facts_of_changes(changes: Iterable[PathChange]) -> list[dict[str, Any]]:
    """Return the changes as data spells them."""
    return [{"kind": change.kind, "path": change.path, **_settled(change)} for change in changes]


def _settled(change: PathChange) -> dict[str, str]:
    return {"settled": change.settled} if change.settled else {}
