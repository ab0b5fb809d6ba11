"""The state of one path, as far as undo restores it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import Any, NamedTuple

_KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "link", stat.S_IFIFO: "fifo"}


class PathState(NamedTuple):
    """What is at a path; nothing is None."""

    kind: str
    mode: int
    size: int
    mtime: int
    """In nanoseconds."""
    inode: int
    device: int
    uid: int
    gid: int
    target: str = ""
    """Of a symbolic link."""


def state_of(path: str) -> PathState | None:
    """Return the state of a path; None if nothing is there. Raises OSError where that cannot be told."""
    try:
        found = os.lstat(path)
        target = os.readlink(path) if stat.S_ISLNK(found.st_mode) else ""
    except (FileNotFoundError, NotADirectoryError):
        return None
    return PathState(
        _KINDS.get(stat.S_IFMT(found.st_mode), "special"),
        stat.S_IMODE(found.st_mode),
        found.st_size,
        found.st_mtime_ns,
        found.st_ino,
        found.st_dev,
        found.st_uid,
        found.st_gid,
        target,
    )


def from_json(row: Any) -> PathState | None:
    return None if row is None else PathState(*row)


def is_same(one: PathState | None, other: PathState | None) -> bool:
    """True if nothing that undo restores differs.

    The time of a directory changes with its entries, and the inode of a file with every way to restore it.
    """
    if one is None or other is None:
        return one is other
    if (one.kind, one.mode, one.uid, one.gid, one.target) != (
        other.kind,
        other.mode,
        other.uid,
        other.gid,
        other.target,
    ):
        return False
    return one.kind != "file" or (one.size, one.mtime) == (other.size, other.mtime)


def is_untouched(one: PathState | None, other: PathState | None) -> bool:
    """True if also the file is the same one."""
    return is_same(one, other) and (one is None or other is None or one.kind != "file" or one.inode == other.inode)


def walk(path: str, skipped: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield a path and everything below it, each directory before its entries; links are not followed.

    Raises:
        OSError: a directory cannot be read.
    """
    waiting = [path]
    while waiting:
        here = waiting.pop()
        if here in skipped or os.path.basename(here).startswith(".nacre-trash-"):
            continue
        yield here
        try:
            with os.scandir(here) as entries:
                waiting.extend(entry.path for entry in entries)
        except (NotADirectoryError, FileNotFoundError):
            continue


def is_below(path: str, above: str) -> bool:
    """True if a path is another one, or below it."""
    return path == above or path.startswith(above.rstrip("/") + "/")
