"""What became of each task of a map, on disk: a task is noted before it starts and when it has ended.

So a map that is killed and started again knows which tasks ran: one that was started and has no end is unknown, and is
named; it is not run again unless that is asked for.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from nacre.errors import InvalidRequestError

State = Literal["started", "done", "unknown"]


class TaskResult(NamedTuple):
    """The last that is known of a task."""

    id: str
    state: State
    facts: Mapping[str, Any]


class TaskResults(Protocol):
    """The results of one map."""

    def known(self) -> Iterator[TaskResult]:
        """Every task that was ever started."""

    def started(self, task: str, facts: Mapping[str, Any]) -> None:
        """Note a task before it starts; it is on disk when this returns."""

    def ended(self, task: str, state: State, facts: Mapping[str, Any]) -> None:
        """Note the end of a task."""

    def close(self) -> None: ...


def open_results(path: Path) -> TaskResults:
    """Open or make the results at a path: `.jsonl` is text, `.sqlite` and `.db` a database.

    Raises:
        InvalidRequestError: the name has another ending, or the file is not what its name says.
    """
    if path.suffix == ".jsonl":
        return JsonLinesResults(path)
    if path.suffix in (".sqlite", ".db"):
        return SqliteResults(path)
    raise InvalidRequestError(f"--results {str(path)!r} must end in .jsonl, .sqlite or .db", field="results")


class SqliteResults:
    """A database that survives the end of this process at any moment."""

    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(path, isolation_level=None)
        try:
            self._database.execute("pragma journal_mode = wal")
            self._database.execute("pragma synchronous = normal")
            self._database.execute(
                "create table if not exists tasks (id text primary key, state text not null, facts text not null)"
            )
        except sqlite3.Error as error:
            self._database.close()
            raise InvalidRequestError(f"--results {str(path)!r} cannot be used: {error}", field="results") from error

    def known(self) -> Iterator[TaskResult]:
        for task, state, facts in self._database.execute("select id, state, facts from tasks"):
            yield TaskResult(task, state, json.loads(facts))

    def started(self, task: str, facts: Mapping[str, Any]) -> None:
        self._note(task, "started", facts)

    def ended(self, task: str, state: State, facts: Mapping[str, Any]) -> None:
        self._note(task, state, facts)

    def _note(self, task: str, state: State, facts: Mapping[str, Any]) -> None:
        self._database.execute("replace into tasks values (?, ?, ?)", (task, state, json.dumps(facts)))

    def close(self) -> None:
        self._database.close()


class JsonLinesResults:
    """One object a line; the last line of a task counts, and a line that was cut off does not."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = path.open("a+b", buffering=0)
            size = path.stat().st_size
            if size and path.read_bytes()[-1:] != b"\n":
                self._file.write(b"\n")
        except OSError as error:
            reason = error.strerror or str(error)
            raise InvalidRequestError(f"--results {str(path)!r} cannot be used: {reason}", field="results") from error

    def known(self) -> Iterator[TaskResult]:
        found: dict[str, TaskResult] = {}
        for line in self._path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # cut off when the process ended
            if isinstance(entry, dict) and "id" in entry and "state" in entry:
                task, state = entry.pop("id"), entry.pop("state")
                found[task] = TaskResult(task, state, entry)
        yield from found.values()

    def started(self, task: str, facts: Mapping[str, Any]) -> None:
        self._note(task, "started", facts)

    def ended(self, task: str, state: State, facts: Mapping[str, Any]) -> None:
        self._note(task, state, facts)

    def _note(self, task: str, state: State, facts: Mapping[str, Any]) -> None:
        self._file.write(json.dumps({"id": task, "state": state, **facts}).encode("utf-8") + b"\n")

    def close(self) -> None:
        self._file.close()
