"""The tries of a state directory: one directory each, with its facts, the layers of its overlay, and its changes."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from nacre.errors import InvalidRequestError, NacreError
from nacre.numbered_entries import FACTS, allot, is_id, numbers_in, read_facts, read_rows, write_rows
from nacre.tries.overlay_changes import PathChange, change_from_json, changes_on
from nacre.warden.overlay_entry import REFUSED, SOURCE

PREFIX = "try_"
_CHANGES = "changes.jsonl"
# How long processes of an ended command may take to go, and how often that is looked at.
END_SECONDS, _ROUND_SECONDS = 1.0, 0.02


class TryError(NacreError):
    """A try could not be made, read, committed or discarded."""


class TryEntry(NamedTuple):
    """One try."""

    id: str
    directory: str
    facts: dict[str, Any]

    @property
    def root(self) -> str:
        """The workspace."""
        return str(self.facts["root"])

    @property
    def upper(self) -> str:
        return os.path.join(self.directory, "upper")

    @property
    def state(self) -> str:
        """`running`, `open`, `committing`, `committed`, `discarded`."""
        return str(self.facts.get("state", "running"))

    @property
    def refusal(self) -> str:
        """Why nothing was run; empty if it was."""
        try:
            with open(os.path.join(self.directory, REFUSED), encoding="utf-8", errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def changes(self, *, patience: float = END_SECONDS) -> list[PathChange]:
        """Return what it changes; the first look after the command's end is the one that counts.

        Args:
            patience: seconds that the end of the last process may take; a sandbox ends a moment after its command.

        Raises:
            TryError: processes of it still run, or it cannot be read.
        """
        try:
            if self.state == "running":
                if holder := self._awaited_holder(patience):
                    raise TryError(f"{self.id} still runs (pid {holder}); wait for its end, or stop it")
                self.write_changes(changes_on(self.upper, self.root, started_at=self.facts["startedAt"]))
                self.write(state="open", endedAt=time.time())
            return [change_from_json(row) for row in read_rows(self.directory, _CHANGES)]
        except (OSError, ValueError) as error:
            raise TryError(f"{self.id} cannot be read: {error}") from error

    def _awaited_holder(self, patience: float) -> int | None:
        """Return a process that has the overlay mounted and does not end in time."""
        until = time.monotonic() + patience
        while (holder := self._holder()) is not None and time.monotonic() < until:
            time.sleep(_ROUND_SECONDS)
        return holder

    def _holder(self) -> int | None:
        """Return a process that has the overlay mounted."""
        # As the kernel writes it in its tables.
        source = (SOURCE + self.directory).replace("\\", "\\134").replace(" ", "\\040").replace("\t", "\\011")
        source = source.replace("\n", "\\012")
        for name in os.listdir("/proc"):
            if name.isdigit():
                # A process that has ended, or belongs to another user.
                with contextlib.suppress(OSError), open(f"/proc/{name}/mountinfo", encoding="utf-8") as file:
                    if f" overlay {source} " in file.read():
                        return int(name)
        return None

    def write(self, **facts: Any) -> None:
        """Add facts."""
        self.facts.update(facts)
        write_rows(self.directory, FACTS, [self.facts])

    def write_changes(self, changes: Iterable[PathChange]) -> None:
        write_rows(self.directory, _CHANGES, ([*change] for change in changes))

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every other nacre from committing or discarding it meanwhile.

        Raises:
            TryError: another one does so now.
        """
        with open(os.path.join(self.directory, "lock"), "w", encoding="ascii") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise TryError(f"{self.id} is being committed or discarded by another nacre") from error
            yield

    def remove_layers(self) -> None:
        """Throw away what the overlay holds."""
        for name in ("upper", "work"):
            remove_tree(os.path.join(self.directory, name))

    def remove(self) -> None:
        """Forget it as if it had never been."""
        remove_tree(self.directory)


def remove_tree(path: str) -> None:
    """Remove a directory whose own entries may forbid that to their owner."""
    for directory, names, _ in os.walk(path):
        for name in names:
            below = os.path.join(directory, name)
            if stat.S_IMODE(os.lstat(below).st_mode) & 0o700 != 0o700 and not os.path.islink(below):
                os.chmod(below, 0o700)
    shutil.rmtree(path, ignore_errors=True)


class TryStore:
    """The tries of a state directory."""

    def __init__(self, state_dir: str) -> None:
        self.root = os.path.join(state_dir, "tries")

    def new(self, **facts: Any) -> TryEntry:
        """Make a try with the next number.

        Raises:
            TryError: the state directory cannot be used.
        """
        try:
            directory = allot(self.root, PREFIX)
            for name in ("upper", "work"):
                os.mkdir(os.path.join(directory, name), 0o700)
            entry = TryEntry(os.path.basename(directory), directory, {})
            # The overlay shows the mode and owner of the upper directory in the place of the workspace's.
            found = os.stat(facts["root"])
            os.chmod(entry.upper, stat.S_IMODE(found.st_mode))
            if os.geteuid() == 0:
                os.chown(entry.upper, found.st_uid, found.st_gid)
            entry.write(id=entry.id, state="running", startedAt=time.time(), **facts)
        except OSError as error:
            raise TryError(f"nothing can be tried with {self.root}: {error.strerror}") from error
        return entry

    def list(self) -> list[TryEntry]:
        """Return every try that can be read, oldest first."""
        found = (self._read(f"{PREFIX}{number}") for number in numbers_in(self.root, PREFIX))
        return [entry for entry in found if entry is not None]

    def get(self, name: str) -> TryEntry:
        """Return a try by its id, or by the number in it.

        Raises:
            InvalidRequestError: there is none.
        """
        entry = self._read(name if name.startswith(PREFIX) else f"{PREFIX}{name}")
        if entry is None:
            known = ", ".join(one.id for one in self.list()[-3:]) or "none"
            raise InvalidRequestError(f"there is no try {name!r}; the newest are: {known}", field="id")
        return entry

    def _read(self, name: str) -> TryEntry | None:
        directory = os.path.join(self.root, name)
        facts = read_facts(directory) if is_id(name, PREFIX) else None
        return None if facts is None else TryEntry(name, directory, facts)

    def prune(self, *, max_age_seconds: float) -> None:
        """Forget tries that are settled or older than this."""
        oldest = time.time() - max_age_seconds
        for entry in self.list():
            if entry.facts.get("startedAt", 0.0) < oldest and entry._holder() is None:
                entry.remove()
