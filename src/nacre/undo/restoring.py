"""Restores what a command changed: plans it from three states (before, left by the command, now), then does it.

A path that is not as the command left it was changed since, and is skipped unless the caller says otherwise. Nothing
is removed but what the command itself made. What is replaced is saved first, as an entry of its own.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from typing import Literal, NamedTuple

from nacre.settings import UndoSettings
from nacre.undo.path_state import PathState, is_below, is_same, is_untouched, state_of
from nacre.undo.repository import GitUnavailableError, Places, content_of, signature, top_of
from nacre.undo.saving import Kept, Saver
from nacre.undo.undo_store import Change, UndoEntry, UndoError, UndoStore

# How long git may take for one answer.
_GIT_SECONDS = 30.0

Action = Literal["restore", "revert", "remove", "skip"]


class Step(NamedTuple):
    """What happens to one path."""

    action: Action
    path: str
    reason: str = ""
    """Why it is skipped."""
    kept: Kept | None = None


class Outcome(NamedTuple):
    """What an undo has done."""

    done: list[Step]
    skipped: list[Step]
    saved: str | None
    """The entry that keeps what was replaced."""


def plan(entry: UndoEntry, *, overwrite: bool = False, ended_at: float | None = None) -> list[Step]:
    """Return what an undo of the entry would do, by path.

    Args:
        overwrite: restore also what was changed since.
        ended_at: when the command ended, if that was not seen; what changed later is not its work.
    """
    kept = {one.path: one for one in entry.before()}
    changes = entry.changes()
    if changes is None:
        changes = [Change(path, one.state, _left(path, one, ended_at)) for path, one in kept.items()]
    moved = {} if overwrite else _moved_repositories(entry)
    steps = []
    for change in sorted(changes):
        now = state_of(change.path)
        if _is_restored(change.before, now, kept.get(change.path)):
            continue
        place = next((place for place in _git_places(entry) if is_below(change.path, place)), None)
        if place is not None and place in moved:
            continue
        expected = is_untouched(now, change.after) or (place is not None and "/logs/" not in change.path)
        if not expected and not (overwrite and change.before is not None):
            if place is None:
                steps.append(Step("skip", change.path, _difference(now)))
        elif change.before is None:
            steps.append(Step("remove", change.path))
        else:
            action: Action = "restore" if now is None else "revert"
            steps.append(Step(action, change.path, kept=kept[change.path]))
    return steps + [Step("skip", place, reason) for place, reason in sorted(moved.items())]


def _is_restored(before: PathState | None, now: PathState | None, kept: Kept | None) -> bool:
    """True if a path is as before the command; another file with the same time and size is compared by content."""
    if not is_same(before, now):
        return False
    if before is None or now is None or kept is None or before.kind != "file" or before.inode == now.inode:
        return True
    with open(kept.path, "rb") as file:
        return not kept.content or not _has_content(kept) or file.read() == _content(kept)


def _has_content(kept: Kept) -> bool:
    return kept.content.startswith("blob:") or os.path.exists(kept.content)


def _content(kept: Kept) -> bytes:
    if kept.content.startswith("blob:"):
        top, _, blob = kept.content.removeprefix("blob:").partition("\0")
        return content_of(top, blob, time.monotonic() + _GIT_SECONDS)
    with open(kept.content, "rb") as file:
        return file.read()


def _left(path: str, kept: Kept, ended_at: float | None) -> PathState | None:
    """Return what the command left, as far as that can be told afterwards: what has not changed since its end."""
    now = state_of(path)
    if now is None or ended_at is None:
        return None
    return now if os.lstat(path).st_ctime <= ended_at else kept.state


def _difference(now: PathState | None) -> str:
    return "removed since" if now is None else "changed since"


def _git_places(entry: UndoEntry) -> list[str]:
    return [mark[key] for mark in entry.facts.get("repositories", ()) for key in ("git", "common")]


def _moved_repositories(entry: UndoEntry) -> dict[str, str]:
    """Return the repositories whose index or references are not as the command left them, and why."""
    moved: dict[str, str] = {}
    for mark in entry.facts.get("repositories", ()):
        git, common = mark["git"], mark["common"]
        if not os.path.isdir(git):
            continue
        reason = ""
        if os.path.exists(os.path.join(git, "index.lock")):
            reason = "git is at work there (index.lock)"
        else:
            try:
                if _signature(git, common) != mark["after"]:
                    reason = "its index or references were changed since"
            except GitUnavailableError as error:
                reason = str(error)
        if reason:
            moved |= {git: reason, common: reason}
    return moved


def _signature(git: str, common: str) -> str:
    places = Places(top_of(git) or os.path.dirname(git), git, common)
    return signature(places, time.monotonic() + _GIT_SECONDS)


def restore(store: UndoStore, entry: UndoEntry, steps: list[Step], settings: UndoSettings) -> Outcome:
    """Do what was planned; what cannot be restored is skipped, with the reason.

    Raises:
        UndoError: the present could not be saved, so nothing was restored.
    """
    chosen = [step for step in steps if step.action != "skip"]
    skipped = [step for step in steps if step.action == "skip"]
    present = _save_present(store, entry, [step.path for step in chosen], settings)
    done: list[Step] = []

    def attempt(step: Step) -> None:
        try:
            _apply(step)
        except (OSError, GitUnavailableError, UndoError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            skipped.append(Step("skip", step.path, reason))
        else:
            done.append(step)

    removals = [step for step in chosen if step.action == "remove"]
    others = [step for step in chosen if step.action != "remove"]
    # First remove what stands in the way, from the inside out; then restore directories before their content.
    for step in (*reversed(removals), *others):
        attempt(step)
    for step in reversed(others):
        if step.kept is not None and step.kept.state is not None and step.kept.state.kind == "directory":
            with contextlib.suppress(OSError):
                os.chmod(step.path, step.kept.state.mode)
                os.utime(step.path, ns=(step.kept.state.mtime, step.kept.state.mtime))
    _finish_present(present, entry)
    if not skipped:
        entry.write(state="undone", undoneAt=time.time())
        shutil.rmtree(os.path.join(entry.directory, "content"), ignore_errors=True)
    return Outcome(done, skipped, None if present is None else present.id)


def _save_present(store: UndoStore, entry: UndoEntry, paths: list[str], settings: UndoSettings) -> UndoEntry | None:
    if not paths:
        return None
    present = store.new(command=f"nacre undo {entry.id}", cwd=entry.facts.get("cwd", ""), undoes=entry.id)
    saver = Saver(
        present.directory,
        state_dir=store.state_dir,
        most_bytes=settings.trash_bytes,
        deadline=time.monotonic() + max(60.0, settings.save_seconds),
    )
    saved = saver.save_paths(paths)
    if saved.problems:
        present.remove()
        raise UndoError(f"the present could not be saved, so nothing was restored: {saved.problems[0]}")
    present.write_before(saved.paths.values())
    present.write(bytes=saved.size, trashes=saved.trashes, repositories=[])
    return present


def _finish_present(present: UndoEntry | None, entry: UndoEntry) -> None:
    if present is None:
        return
    kept = list(present.before())
    present.write_after(Change(one.path, one.state, state_of(one.path)) for one in kept)
    repositories = []
    for mark in entry.facts.get("repositories", ()):
        # A repository that cannot be read now is not compared later.
        with contextlib.suppress(GitUnavailableError):
            repositories.append({**mark, "after": _signature(mark["git"], mark["common"])})
    present.write(state="done", endedAt=time.time(), repositories=repositories)


def _apply(step: Step) -> None:
    if step.kept is None:
        _remove(step.path)
        return
    state = step.kept.state
    assert state is not None
    if state.kind == "directory":
        if state_of(step.path) is None:
            os.makedirs(step.path, exist_ok=True)
        _give_owner(step.path, state)
        os.chmod(step.path, state.mode | 0o700)
        return
    os.makedirs(os.path.dirname(step.path), exist_ok=True)
    if os.path.isdir(step.path) and not os.path.islink(step.path):
        os.rmdir(step.path)
    if state.kind == "file":
        _restore_file(step.path, step.kept, state)
        return
    if state.kind == "special":
        raise UndoError("it was neither a file nor a directory, and is not restored")
    with _beside(step.path) as new:
        os.symlink(state.target, new) if state.kind == "link" else os.mkfifo(new, state.mode)
        os.replace(new, step.path)
    _give_owner(step.path, state)
    os.utime(step.path, ns=(state.mtime, state.mtime), follow_symlinks=False)


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        try:
            os.rmdir(path)
        except OSError as error:
            # It holds other files by now.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
    else:
        os.unlink(path)


def _restore_file(path: str, kept: Kept, state: PathState) -> None:
    if not kept.content.startswith("blob:"):
        found = state_of(kept.content) if kept.content else None
        if found is None:
            raise UndoError("its content was not kept")
        if kept.linked and (found.size, found.mtime) != (state.size, state.mtime):
            raise UndoError("it was written in place while the command ran, so its former content is gone")
        try:
            os.chmod(kept.content, state.mode)
            os.replace(kept.content, path)
            return
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
    with _beside(path) as new:
        if kept.content.startswith("blob:"):
            with open(new, "xb") as file:
                file.write(_content(kept))
        else:
            shutil.copyfile(kept.content, new)
        _give_owner(new, state)
        os.chmod(new, state.mode)
        os.utime(new, ns=(state.mtime, state.mtime))
        os.replace(new, path)


def _give_owner(path: str, state: PathState) -> None:
    if os.geteuid() == 0:
        os.chown(path, state.uid, state.gid, follow_symlinks=False)


@contextlib.contextmanager
def _beside(path: str) -> Iterator[str]:
    """Give a name in a new directory beside a path, so that what is made there can be renamed to the path."""
    directory = tempfile.mkdtemp(prefix=".nacre-undo-", dir=os.path.dirname(path))
    try:
        yield os.path.join(directory, "new")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
