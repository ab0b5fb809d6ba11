"""Carries what a try changed over to the workspace, whole or by path, or throws it away.

Every file is put in place by one rename, so none is ever half-written. A commit that was interrupted is repeated: what
has arrived is recognised by its state, and the rest follows. A path of the workspace that is not as the try has seen it
is a conflict: it is reported, and left alone.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from nacre.errors import InvalidRequestError
from nacre.tries.overlay_changes import PathChange
from nacre.tries.try_store import TryEntry
from nacre.undo.path_state import PathState, is_below, is_same, is_untouched, state_of

_OVERLAY = "user.overlay."


class Conflict(NamedTuple):
    """A path that is not committed, and why."""

    path: str
    reason: str


class Settled(NamedTuple):
    """What a commit or a discard has done."""

    done: list[PathChange]
    conflicts: list[Conflict]
    left: list[PathChange]
    """What is neither committed nor discarded yet."""


def commit(entry: TryEntry, paths: Sequence[str] | None = None, *, here: str | None = None) -> Settled:
    """Carry changes over to the workspace.

    Args:
        paths: only these, each with what is below it; None is everything.
        here: the directory that relative paths begin at; the top of the workspace unless given.

    Raises:
        TryError: the try still runs, or cannot be read.
        InvalidRequestError: a path is not among its changes.
    """
    with entry.locked():
        changes = _open_changes(entry)
        chosen = _chosen(entry, changes, paths, here)
        entry.write(state="committing")
        carrier = _Carrier(entry)
        conflicts: list[Conflict] = []
        done: list[PathChange] = []
        for change, carry in carrier.steps(chosen, changes):
            try:
                reason = carrier.conflict(change)
                if reason is None:
                    carry(change)
                    done.append(change)
                elif reason:
                    conflicts.append(Conflict(change.path, reason))
                else:
                    done.append(change)
            except OSError as error:
                conflicts.append(Conflict(change.path, error.strerror or str(error)))
        carrier.finish_directories([change for change in done if change.is_directory])
        return _settle(entry, changes, done, conflicts, "committed")


def discard(entry: TryEntry, paths: Sequence[str] | None = None, *, here: str | None = None) -> Settled:
    """Throw changes away; the workspace stays as it is. Arguments and errors are those of `commit`."""
    with entry.locked():
        changes = _open_changes(entry)
        done = _chosen(entry, changes, paths, here)
        for change in done:
            if change.after is not None and not change.is_directory:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(os.path.join(entry.upper, change.path))
        return _settle(entry, changes, done, [], "discarded")


def _open_changes(entry: TryEntry) -> list[PathChange]:
    changes = entry.changes()
    if entry.state in ("committed", "discarded"):
        raise InvalidRequestError(f"{entry.id} is {entry.state} already; nothing is left of it", field="id")
    return changes


def _chosen(
    entry: TryEntry, changes: list[PathChange], paths: Sequence[str] | None, here: str | None
) -> list[PathChange]:
    open_ones = [change for change in changes if not change.settled]
    if paths is None:
        return open_ones
    wanted = [os.path.relpath(os.path.normpath(os.path.join(here or entry.root, path)), entry.root) for path in paths]
    for path, name in zip(paths, wanted, strict=True):
        if name != "." and not any(is_below(change.path, name) for change in open_ones):
            raise InvalidRequestError(f"{entry.id} changes no path {path!r}", field="paths")
    return [change for change in open_ones if any(name == "." or is_below(change.path, name) for name in wanted)]


def _settle(
    entry: TryEntry, changes: list[PathChange], done: list[PathChange], conflicts: list[Conflict], how: str
) -> Settled:
    names = {change.path for change in done}
    settled = [change._replace(settled=how) if change.path in names else change for change in changes]
    left = [change for change in settled if not change.settled]
    entry.write_changes(settled)
    if left:
        entry.write(state="open")
    else:
        ways = {change.settled for change in settled} or {how}
        entry.write(state="committed" if "committed" in ways else "discarded")
        entry.remove_layers()
    return Settled(done, conflicts, left)


class _Carrier:
    """Carries the changes of one try over, one path at a time."""

    def __init__(self, entry: TryEntry) -> None:
        self._upper = entry.upper
        self._lower = entry.root
        self._links: dict[tuple[int, int], str] = {}
        """Where a file with several names has arrived, if it had to be copied."""

    def steps(
        self, chosen: list[PathChange], changes: list[PathChange]
    ) -> Iterator[tuple[PathChange, Callable[[PathChange], None]]]:
        """Order the changes: what goes, from the inside out; then directories; then what is in them."""
        for change in reversed(chosen):
            if change.kind == "deleted":
                yield change, self._delete
        needed = {os.path.dirname(change.path) for change in chosen if change.after is not None}
        parents = [
            change
            for change in changes
            if change.is_directory
            and change.after is not None
            and not change.settled
            and change not in chosen
            and any(is_below(path, change.path) for path in needed)
        ]
        for change in sorted((*parents, *chosen), key=lambda change: change.path):
            if change.is_directory and change.after is not None:
                yield change, self._make_directory
        for change in chosen:
            if not change.is_directory and change.after is not None:
                yield change, self._put

    def conflict(self, change: PathChange) -> str | None:
        """Return why a change is not carried over; None if it is, and nothing if it has arrived already."""
        now = state_of(os.path.join(self._lower, change.path))
        if change.after is None and now is None:
            return ""
        gone = change.after is not None and not os.path.lexists(os.path.join(self._upper, change.path))
        if gone and is_same(now, change.after):
            return ""
        if change.disturbed:
            return "the workspace's own file was changed while the command ran"
        if not is_untouched(now, change.before) and not (_is_replaced(change) and now is None):
            directory = change.is_directory and now is not None and now.kind == "directory"
            if not directory:
                return "the workspace's own file was changed since"
        return None

    def _delete(self, change: PathChange) -> None:
        path = os.path.join(self._lower, change.path)
        if change.is_directory:
            os.rmdir(path)
        else:
            os.unlink(path)

    def _make_directory(self, change: PathChange) -> None:
        path = os.path.join(self._lower, change.path)
        if change.before is not None and change.before.kind != "directory":
            os.unlink(path)
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)

    def finish_directories(self, done: list[PathChange]) -> None:
        """Give directories their modes, owners and times, when nothing more is put into them."""
        for change in sorted(done, key=lambda change: change.path, reverse=True):
            path = os.path.join(self._lower, change.path)
            if change.after is not None:
                _give_facts(path, change.after, time=change.before is None)

    def _put(self, change: PathChange) -> None:
        source, path = os.path.join(self._upper, change.path), os.path.join(self._lower, change.path)
        assert change.after is not None
        if change.before is not None and change.before.kind == "directory":
            os.rmdir(path)
        if not os.path.islink(source):
            for name in os.listxattr(source):
                if name.startswith(_OVERLAY):
                    os.removexattr(source, name)
        try:
            os.rename(source, path)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            self._copy(source, path, change.after)
            os.unlink(source)

    def _copy(self, source: str, path: str, state: PathState) -> None:
        """Put a file in place from another file system: whole, by one rename."""
        known = self._links.get((state.device, state.inode))
        directory = tempfile.mkdtemp(prefix=".nacre-try-", dir=os.path.dirname(path))
        try:
            new = os.path.join(directory, "new")
            if known is not None and os.path.lexists(known):
                os.link(known, new)
            elif state.kind == "file":
                shutil.copyfile(source, new)
                shutil.copystat(source, new)
            elif state.kind == "link":
                os.symlink(state.target, new)
            elif state.kind == "fifo":
                os.mkfifo(new, state.mode)
            else:
                raise OSError(errno.EXDEV, "it is no file, link or directory, and on another file system")
            _give_facts(new, state, time=True)
            os.replace(new, path)
            self._links[state.device, state.inode] = path
        finally:
            shutil.rmtree(directory, ignore_errors=True)


def _is_replaced(change: PathChange) -> bool:
    """True if one kind of thing takes the place of another, which a commit removes first."""
    return change.before is not None and change.after is not None and change.before.kind != change.after.kind


def _give_facts(path: str, state: PathState, *, time: bool) -> None:
    if os.geteuid() == 0:
        os.chown(path, state.uid, state.gid, follow_symlinks=False)
    if state.kind != "link":
        os.chmod(path, state.mode)
    if time:
        os.utime(path, ns=(state.mtime, state.mtime), follow_symlinks=False)
