"""Runs many commands on a place, each at most once, so many at a time; what became of each is on disk."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from nacre.api import run
from nacre.backend import Backend
from nacre.cluster.task_results import State, TaskResults
from nacre.engine.call_log import OUTCOME_WORDS
from nacre.errors import BackendUnavailableError, InvalidRequestError, NacreError, shown
from nacre.request import check_call
from nacre.result import Exited, Lost, ShellResult

FIELDS = {"id", "command", "timeout", "cwd", "env"}
# A place that takes no command is asked again after so long, so often.
RETRY_SECONDS, MOST_RETRIES = 1.0, 30


class Task(NamedTuple):
    """A command of a map."""

    id: str
    command: str
    timeout: float | None = None
    cwd: str | None = None
    env: Mapping[str, str] | None = None


class Tally(NamedTuple):
    """How far a map is."""

    total: int
    succeeded: int = 0
    failed: int = 0
    unknown: int = 0
    skipped: int = 0
    """Tasks that an earlier map has finished."""

    @property
    def ended(self) -> int:
        return self.succeeded + self.failed + self.unknown + self.skipped


def read_tasks(path: Path) -> list[Task]:
    """Read tasks from JSON lines: `{"command": …, "id"?, "timeout"?, "cwd"?, "env"?}`; the line number is the id else.

    Raises:
        InvalidRequestError: a line is no task, or two have one id.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequestError(f"--jobs {str(path)!r} cannot be read: {error}", field="jobs") from error
    tasks: dict[str, Task] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        task = _task(line, number, path)
        if task.id in tasks:
            raise InvalidRequestError(f"{path}:{number}: the id {task.id!r} is another task's too", field="jobs")
        tasks[task.id] = task
    return list(tasks.values())


def _task(line: str, number: int, path: Path) -> Task:
    def wrong(text: str) -> InvalidRequestError:
        return InvalidRequestError(f"{path}:{number}: {text}", field="jobs")

    try:
        entry = json.loads(line)
    except ValueError as error:
        raise wrong(f"the line is not JSON: {error}") from error
    if not isinstance(entry, dict) or not isinstance(entry.get("command"), str) or not entry["command"].strip():
        raise wrong('a task is an object with a string "command" that is not empty')
    if unknown := sorted(entry.keys() - FIELDS):
        raise wrong(f"unknown field {unknown[0]!r}; known fields: {', '.join(sorted(FIELDS))}")
    name, cwd, env = entry.get("id", number), entry.get("cwd"), entry.get("env")
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise wrong(f"id must be a string or a whole number, got {shown(name)}")
    if cwd is not None and not isinstance(cwd, str):
        raise wrong(f"cwd must be a string, got {shown(cwd)}")
    if env is not None and not isinstance(env, dict):
        raise wrong(f"env must be an object, got {shown(env)}")
    try:
        check_call(entry["command"], timeout=entry.get("timeout"), env=env)
    except InvalidRequestError as error:
        raise wrong(str(error)) from error
    return Task(str(name), entry["command"], entry.get("timeout"), cwd, env)


async def map_tasks(
    tasks: Iterable[Task],
    backend: Backend,
    results: TaskResults,
    *,
    at_once: int,
    retry_unknown: bool = False,
    told: Callable[[Tally], None] = lambda _: None,
) -> Tally:
    """Run every task that no earlier map has started, so many at once; `told` hears of each end.

    A task that an earlier map has started and not ended is unknown: it is run again only with `retry_unknown`.
    """
    known = {result.id: result.state for result in results.known()}
    waiting: list[Task] = []
    tally = Tally(0)
    for task in tasks:
        tally = tally._replace(total=tally.total + 1)
        state = known.get(task.id)
        if state is None or (retry_unknown and state != "done"):
            waiting.append(task)
        elif state == "done":
            tally = tally._replace(skipped=tally.skipped + 1)
        else:
            results.ended(task.id, "unknown", {"reason": "an earlier map ended while it ran"})
            tally = tally._replace(unknown=tally.unknown + 1)
    told(tally)
    queue = iter(waiting)

    async def work() -> None:
        nonlocal tally
        # One iterator for all: each takes the next.
        for task in queue:
            state, succeeded = await _run(task, backend, results)
            if state == "unknown":
                tally = tally._replace(unknown=tally.unknown + 1)
            elif succeeded:
                tally = tally._replace(succeeded=tally.succeeded + 1)
            else:
                tally = tally._replace(failed=tally.failed + 1)
            told(tally)

    await asyncio.gather(*(work() for _ in range(min(at_once, len(waiting)))))
    return tally


async def _run(task: Task, backend: Backend, results: TaskResults) -> tuple[State, bool]:
    results.started(task.id, {"command": task.command})
    try:
        result = await _started(task, backend)
    except NacreError as error:
        # Nothing was started: this is the end of the task, and running the map again does not change it.
        results.ended(task.id, "done", {"command": task.command, "outcome": "notStarted", "error": str(error)})
        return "done", False
    state: State = "unknown" if isinstance(result.outcome, Lost) else "done"
    results.ended(task.id, state, facts_of(result))
    return state, result.ok


async def _started(task: Task, backend: Backend) -> ShellResult:
    """Run the task; a place that has taken no command, and says so, is asked again."""
    for _ in range(MOST_RETRIES):
        try:
            return await run(task.command, timeout=task.timeout, cwd=task.cwd, env=task.env, backend=backend)
        except BackendUnavailableError:
            await asyncio.sleep(RETRY_SECONDS)
            refresh = getattr(backend, "refresh", None)
            if refresh is not None:
                await refresh()
    return await run(task.command, timeout=task.timeout, cwd=task.cwd, env=task.env, backend=backend)


def facts_of(result: ShellResult) -> dict[str, Any]:
    """What is kept of the result of a task."""
    outcome = result.outcome
    return {
        "command": result.command,
        "outcome": OUTCOME_WORDS[type(outcome)],
        "exitCode": outcome.code if isinstance(outcome, Exited) else None,
        "reason": outcome.reason if isinstance(outcome, Lost) else None,
        "cause": result.cause,
        "clock": result.clock,
        "text": result.text,
        "artifactId": None if result.artifact is None else str(result.artifact.id),
        "startedAt": result.started_at,
        "wallTimeMs": round(result.elapsed * 1000),
        "notices": list(result.notices),
    }
