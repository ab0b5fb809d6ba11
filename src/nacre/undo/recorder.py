"""The engine's way into undo: save before a command starts, look afterwards at what it changed.

Files are touched on a thread of their own with a deadline, because a file system may not answer and the event loop has
other calls to serve.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from nacre.bash.tree import UnreadableError
from nacre.daemon_thread import on_thread
from nacre.errors import NacreError
from nacre.settings import UndoSettings
from nacre.undo.destruction import Destruction, destruction_of, may_destroy
from nacre.undo.path_state import is_below, is_untouched, state_of, walk
from nacre.undo.repository import GitUnavailableError, Places, listing, signature
from nacre.undo.saving import RepositoryMark, Saved, Saver
from nacre.undo.undo_store import Change, UndoEntry, UndoError, UndoStore
from nacre.wording import counted

if TYPE_CHECKING:
    from nacre.guard.interpret.shell_state import ShellState

# What a command may spend on saving at most, of its own time.
_SHARE = 0.5
# How much longer than its deadline a thread is waited for: it looks at the clock between two files.
_PATIENCE_SECONDS = 1.0
# What the look after a command may take.
_LOOK_SECONDS = 10.0


class Recording(NamedTuple):
    """A save whose command runs."""

    entry: UndoEntry
    destruction: Destruction
    saved: Saved
    seconds: float
    """How long the save took."""


async def record(
    store: UndoStore,
    settings: UndoSettings,
    command: str,
    *,
    shown: str,
    cwd: str,
    environment: Mapping[str, str],
    timeout: float | None,
    state: ShellState | None = None,
    outside: str | None = None,
    facts: Mapping[str, object] | None = None,
) -> Recording | str | None:
    """Save what a command would destroy. None if that is nothing; a text says why nothing is saved.

    Args:
        shown: the command without hidden values.
        timeout: what is left of the call's own time.
        outside: a directory whose files need no saving.
    """
    if not may_destroy(command, () if state is None else state.names):
        return None
    began = time.monotonic()
    try:
        destruction = destruction_of(command, cwd=cwd, environment=environment, state=state)
    except UnreadableError as error:
        return f"undo: nothing was saved before this command, because it cannot be read: {error}"
    if destruction is not None and outside is not None:
        targets = tuple(one for one in destruction.targets if not is_below(one.path, outside))
        destruction = Destruction(targets, ())
    if destruction is None or not _exists(destruction):
        return None
    seconds = settings.save_seconds if timeout is None else min(settings.save_seconds, timeout * _SHARE)
    stop: list[Saver] = []

    def save() -> Recording | None:
        entry = store.new(command=shown, cwd=cwd, **(facts or {}))
        saver = Saver(
            entry.directory,
            state_dir=store.state_dir,
            most_bytes=settings.trash_bytes,
            deadline=began + seconds,
        )
        stop.append(saver)
        try:
            saved = saver.save(destruction)
            entry.write_before(saved.paths.values())
            entry.write(bytes=saved.size, trashes=saved.trashes, problems=saved.problems)
        except OSError as error:
            entry.remove()
            raise UndoError(f"{error.filename or entry.directory}: {error.strerror}") from error
        if not any(kept.state is not None for kept in saved.paths.values()) and not saved.problems:
            entry.remove()
            return None
        store.prune(most_bytes=settings.trash_bytes, max_age_seconds=settings.undo_days * 86400)
        return Recording(entry, destruction, saved, time.monotonic() - began)

    try:
        return await on_thread(save, seconds + _PATIENCE_SECONDS)
    except TimeoutError:
        for saver in stop:
            saver.stopped.set()
        return f"undo: nothing was saved before this command: saving took longer than {seconds:g} s"
    except NacreError as error:
        return f"undo: nothing was saved before this command: {error}"


def _exists(destruction: Destruction) -> bool:
    """True if a path that would be destroyed is there; an unanswering one is left to the save."""
    return bool(destruction.repositories) or any(os.path.lexists(target.path) for target in destruction.targets)


async def conclude(recording: Recording, **facts: object) -> str | None:
    """After the end of a command: record what it changed, keep only that, and return the notice of it."""
    try:
        return await on_thread(lambda: _conclude(recording, facts), _LOOK_SECONDS + _PATIENCE_SECONDS)
    except (TimeoutError, OSError, NacreError):
        # The entry stays without its end, and restores only what is missing.
        return f"undo: {recording.entry.id} keeps what was there before; what the command changed could not be seen"


def _conclude(recording: Recording, facts: dict[str, object]) -> str | None:
    entry, saved = recording.entry, recording.saved
    deadline = time.monotonic() + _LOOK_SECONDS
    changes = changes_of(recording, deadline)
    marks = [mark for mark in saved.repositories if mark.signature]
    after = {mark.git: signature(Places(*mark[:3]), deadline) for mark in marks if os.path.isdir(mark.git)}
    if not changes and not saved.problems:
        entry.remove()
        return None
    changed = {change.path for change in changes}
    size = 0
    for kept in saved.paths.values():
        if kept.path in changed and kept.state is not None and kept.content.startswith("/"):
            size += kept.state.size
        elif kept.content.startswith("/"):
            os.unlink(kept.content)
    entry.write_before(kept for kept in saved.paths.values() if kept.path in changed)
    entry.write_after(changes)
    repositories = [{"git": mark.git, "common": mark.common, "after": after.get(mark.git, "")} for mark in marks]
    entry.write(state="done", endedAt=time.time(), bytes=size, repositories=repositories, **facts)
    return notice_of(entry.id, changes, saved)


def notice_of(name: str, changes: list[Change], saved: Saved) -> str:
    """Spell what can be restored."""
    own = [place for mark in saved.repositories for place in (mark.git, mark.common)]
    files = [change for change in changes if change.before is not None and change.before.kind != "directory"]
    files = [change for change in files if not any(is_below(change.path, place) for place in own)]
    deleted = sum(change.after is None for change in files)
    parts = [counted(deleted, "deleted file")] if deleted else []
    parts += [counted(len(files) - deleted, "changed file")] if len(files) > deleted else []
    parts += ["the index and references of git"] if own else []
    what = " and ".join(parts) or "what this command changed"
    incomplete = f"; not all was saved: {saved.problems[0]}" if saved.problems else ""
    return f"undo: `nacre undo {name}` restores {what}{incomplete}"


def changes_of(recording: Recording, deadline: float) -> list[Change]:
    """Compare what was kept with what is there now, and add what the command made."""
    before = recording.saved.paths
    changes = [
        Change(path, kept.state, now)
        for path, kept in before.items()
        if not is_untouched(kept.state, now := state_of(path))
    ]
    made: dict[str, None] = {}
    for target in recording.destruction.targets:
        if target.creates and os.path.lexists(target.path):
            made |= dict.fromkeys(walk(target.path))
    for mark in recording.saved.repositories:
        made |= dict.fromkeys(_made_by_git(mark, deadline))
    changes += [Change(path, None, state_of(path)) for path in made if path not in before and os.path.lexists(path)]
    return changes


def _made_by_git(mark: RepositoryMark, deadline: float) -> list[str]:
    """Return what git may have made: its own files but objects, and those of the work tree that it tracks now."""
    found = [path for place in {mark.git, mark.common} for path in walk(place, (os.path.join(place, "objects"),))]
    if mark.tree:
        try:
            files = listing(Places(*mark[:3]), deadline)
        except GitUnavailableError:
            return found
        found += [*files.clean, *(files.others if mark.untracked else files.changed)]
    return found
