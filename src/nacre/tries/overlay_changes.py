"""What a command changed on an overlay: read from the upper directory, compared with the lower one.

In the upper directory a character device 0,0 stands for something deleted, and a directory that is marked opaque hides
everything below it in the lower one.
"""

from __future__ import annotations

import filecmp
import os
import stat
from collections.abc import Iterator
from typing import Literal, NamedTuple

from nacre.undo.path_state import PathState, from_json, is_same, state_of, walk

Kind = Literal["added", "modified", "deleted"]

_OPAQUE = "user.overlay.opaque"


class PathChange(NamedTuple):
    """One path that a try changes."""

    kind: Kind
    path: str
    """From the top of the workspace."""
    before: PathState | None
    """In the workspace, when the command had ended."""
    after: PathState | None
    disturbed: bool = False
    """True if the workspace's own file was changed while the command ran."""
    settled: str = ""
    """`committed` or `discarded`, once it is."""

    @property
    def is_directory(self) -> bool:
        state = self.before if self.after is None else self.after
        return state is not None and state.kind == "directory"


def change_from_json(row: list[object]) -> PathChange:
    kind, path, before, after, disturbed, settled = row
    return PathChange(kind, path, from_json(before), from_json(after), disturbed, settled)  # type: ignore[arg-type]


def changes_on(upper: str, lower: str, *, started_at: float) -> list[PathChange]:
    """Return every path that the overlay changes, in order. Raises OSError where that cannot be read."""
    found = [_disturbed(change, lower, started_at) for change in _compare(upper, lower, "", hidden=False)]
    return sorted(found, key=lambda change: change.path.split("/"))


def _disturbed(change: PathChange, lower: str, started_at: float) -> PathChange:
    if change.before is None or change.before.kind == "directory":
        return change
    return change._replace(disturbed=os.lstat(os.path.join(lower, change.path)).st_ctime > started_at)


def _compare(upper: str, lower: str, path: str, *, hidden: bool) -> Iterator[PathChange]:
    """Compare one directory that both sides have; `hidden` if nothing below the lower one shows through."""
    here = os.path.join(upper, path)
    hidden = hidden or _is_opaque(here)
    with os.scandir(here) as entries:
        names = sorted(entry.name for entry in entries)
    for name in names:
        yield from _compare_one(upper, lower, os.path.join(path, name), hidden=hidden)
    if hidden:
        with os.scandir(os.path.join(lower, path)) as entries:
            gone = sorted({entry.name for entry in entries} - set(names))
        for name in gone:
            yield from _deleted(lower, os.path.join(path, name))


def _compare_one(upper: str, lower: str, path: str, *, hidden: bool) -> Iterator[PathChange]:
    above, below = os.path.join(upper, path), os.path.join(lower, path)
    before = state_of(below)
    if _is_whiteout(above):
        if before is not None:
            yield from _deleted(lower, path)
        return
    after = state_of(above)
    assert after is not None
    if before is None:
        yield PathChange("added", path, None, after)
        if after.kind == "directory":
            yield from _added(upper, path)
        return
    if before.kind != after.kind:
        yield PathChange("modified", path, before, after)
        if before.kind == "directory":
            yield from (change for change in _deleted(lower, path) if change.path != path)
        if after.kind == "directory":
            yield from _added(upper, path)
        return
    if after.kind == "directory":
        if not is_same(before, after):
            yield PathChange("modified", path, before, after)
        yield from _compare(upper, lower, path, hidden=hidden)
    elif not is_same(before, after) or (after.kind == "file" and not filecmp.cmp(above, below, shallow=False)):
        yield PathChange("modified", path, before, after)


def _added(upper: str, path: str) -> Iterator[PathChange]:
    for one in walk(os.path.join(upper, path)):
        name = os.path.relpath(one, upper)
        if name != path and not _is_whiteout(one):
            yield PathChange("added", name, None, state_of(one))


def _deleted(lower: str, path: str) -> Iterator[PathChange]:
    for one in walk(os.path.join(lower, path)):
        yield PathChange("deleted", os.path.relpath(one, lower), state_of(one), None)


def _is_whiteout(path: str) -> bool:
    found = os.lstat(path)
    return stat.S_ISCHR(found.st_mode) and found.st_rdev == 0


def _is_opaque(path: str) -> bool:
    try:
        return os.getxattr(path, _OPAQUE) == b"y"
    except OSError:
        return False
