"""The entries of undo on disk: one directory each, with its facts, what was there before, and what the command left.

`entry.json` holds the facts, `before.jsonl` a line for each path that was kept, `after.jsonl` a line for each path that
the command changed. Every file is replaced as a whole, so an entry is never half-written.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from nacre.errors import InvalidRequestError, NacreError
from nacre.numbered_entries import FACTS, allot, is_id, numbers_in, read_facts, read_rows, write_rows
from nacre.undo.path_state import PathState, from_json
from nacre.undo.saving import Kept

PREFIX = "undo_"


class UndoError(NacreError):
    """Something could not be saved or restored."""


class Change(NamedTuple):
    """A path that the command changed."""

    path: str
    before: PathState | None
    after: PathState | None


class UndoEntry(NamedTuple):
    """One save."""

    id: str
    directory: str
    facts: dict[str, Any]

    @property
    def state(self) -> str:
        """`running`, `done`, `undone`."""
        return str(self.facts.get("state", "running"))

    @property
    def is_undo(self) -> bool:
        """True if it keeps what an undo has replaced."""
        return "undoes" in self.facts

    def before(self) -> Iterator[Kept]:
        """Yield the paths that were kept."""
        for path, state, content, linked in self._rows("before.jsonl"):
            yield Kept(path, from_json(state), content, linked)

    def changes(self) -> list[Change] | None:
        """Return what the command changed; None if its end was not seen."""
        if not os.path.exists(os.path.join(self.directory, "after.jsonl")):
            return None
        return [Change(path, from_json(old), from_json(new)) for path, old, new in self._rows("after.jsonl")]

    def _rows(self, name: str) -> Iterator[Any]:
        try:
            yield from read_rows(self.directory, name)
        except (OSError, ValueError) as error:
            raise UndoError(f"{self.id} cannot be read: {error}") from error

    def write(self, **facts: Any) -> None:
        """Add facts."""
        self.facts.update(facts)
        write_rows(self.directory, FACTS, [self.facts])

    def write_before(self, kept: Iterable[Kept]) -> None:
        write_rows(self.directory, "before.jsonl", ([*one] for one in kept))

    def write_after(self, changes: Iterable[Change]) -> None:
        write_rows(self.directory, "after.jsonl", ([*one] for one in changes))

    def remove(self) -> None:
        """Forget it with all it keeps."""
        for trash in self.facts.get("trashes", ()):
            shutil.rmtree(trash, ignore_errors=True)
        shutil.rmtree(self.directory, ignore_errors=True)


class UndoStore:
    """The entries of a state directory."""

    def __init__(self, state_dir: str) -> None:
        self.state_dir = state_dir
        self.root = os.path.join(state_dir, "undo")

    def new(self, **facts: Any) -> UndoEntry:
        """Make an entry with the next number.

        Raises:
            UndoError: the state directory cannot be used.
        """
        try:
            directory = allot(self.root, PREFIX)
            entry = UndoEntry(os.path.basename(directory), directory, {})
            entry.write(id=entry.id, savedAt=time.time(), state="running", **facts)
        except OSError as error:
            raise UndoError(f"nothing can be saved in {self.root}: {error.strerror}") from error
        return entry

    def list(self) -> list[UndoEntry]:
        """Return every entry that can be read, oldest first."""
        found = (self._read(f"{PREFIX}{number}") for number in numbers_in(self.root, PREFIX))
        return [entry for entry in found if entry is not None]

    def get(self, name: str) -> UndoEntry:
        """Return an entry by its id, or by the number in it.

        Raises:
            InvalidRequestError: there is none.
        """
        entry = self._read(name if name.startswith(PREFIX) else f"{PREFIX}{name}")
        if entry is None:
            known = ", ".join(one.id for one in self.list()[-3:]) or "none"
            raise InvalidRequestError(f"there is no undo {name!r}; the newest are: {known}", field="id")
        return entry

    def newest(self) -> UndoEntry | None:
        """Return the newest command that can be undone."""
        open_ones = [one for one in self.list() if one.state != "undone" and not one.is_undo]
        return open_ones[-1] if open_ones else None

    def _read(self, name: str) -> UndoEntry | None:
        directory = os.path.join(self.root, name)
        facts = read_facts(directory) if is_id(name, PREFIX) else None
        return None if facts is None else UndoEntry(name, directory, facts)

    def prune(self, *, most_bytes: int, max_age_seconds: float) -> None:
        """Forget the oldest entries beyond a size or an age; the newest one stays."""
        oldest = time.time() - max_age_seconds
        total = 0
        for at, entry in enumerate(reversed(self.list())):
            total += entry.facts.get("bytes", 0)
            if at and (total > most_bytes or entry.facts.get("savedAt", 0.0) < oldest):
                entry.remove()
