"""Removes old artifacts: by age, then by what all of them take together. The newest are kept."""

from __future__ import annotations

import os
from dataclasses import dataclass

from nacre.artifacts import directory
from nacre.artifacts.store import ArtifactStore


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneReport:
    """What a pruning removed and left."""

    removed: tuple[int, ...]
    """Ids, oldest first."""
    freed_bytes: int
    kept: int
    """How many artifacts are left."""
    kept_bytes: int


def prune(store: ArtifactStore, *, max_age_seconds: float, max_total_bytes: int, now: float) -> PruneReport:
    """Remove artifacts last written longer ago than `max_age_seconds`, then the oldest ones beyond the total."""
    removed = []
    freed = kept = kept_bytes = 0
    full = False
    for entry in reversed(store.list()):
        full = full or kept_bytes + entry.stored_bytes > max_total_bytes
        too_old = now - entry.written_at > max_age_seconds
        if (full or too_old) and entry.state != "writing" and store.remove(entry.id):
            removed.append(entry.id)
            freed += entry.stored_bytes
        else:
            kept += 1
            kept_bytes += entry.stored_bytes
    _remove_remains(store.root)
    return PruneReport(removed=tuple(reversed(removed)), freed_bytes=freed, kept=kept, kept_bytes=kept_bytes)


def _remove_remains(root: str) -> None:
    """Remove what crashed processes left: records without a file, half-made copies."""
    if not os.path.isdir(root):
        return
    with directory.translated(root), directory.locked(root):
        logs = directory.logs(root)
        for name in os.listdir(root):
            number, _, suffix = name.removeprefix(".").partition(".")
            orphan = suffix == "json" and number.isdigit() and int(number) not in logs
            if orphan or (suffix == "tmp" and number.isdigit()):
                os.unlink(os.path.join(root, name))
