"""Maps of commands: tasks are read whole or refused, each runs at most once, and what became of each is on disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nacre.backends.contained import ContainedBackend
from nacre.cluster.task_map import Tally, Task, map_tasks, read_tasks
from nacre.cluster.task_results import open_results
from nacre.errors import InvalidRequestError


def tasks_file(tmp_path: Path, *lines: object) -> Path:
    path = tmp_path / "tasks.jsonl"
    path.write_text(
        "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines), encoding="utf-8"
    )
    return path


def test_tasks_have_ids_of_their_own_or_the_number_of_their_line(tmp_path: Path) -> None:
    path = tasks_file(
        tmp_path, {"command": "a"}, "\n", {"id": "x", "command": "b", "timeout": 5, "cwd": "/", "env": {"K": "v"}}
    )
    assert read_tasks(path) == [Task("1", "a"), Task("x", "b", 5, "/", {"K": "v"})]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{\n", "tasks.jsonl:1: the line is not JSON"),
        ({"cmd": "x"}, 'a string "command"'),
        ({"command": " "}, "that is not empty"),
        ({"command": "x", "colour": 1}, "unknown field 'colour'; known fields: command, cwd, env, id, timeout"),
    ],
)
def test_a_line_that_is_no_task_is_refused_by_its_place(tmp_path: Path, line: object, message: str) -> None:
    with pytest.raises(InvalidRequestError, match=message):
        read_tasks(tasks_file(tmp_path, line))


def test_two_tasks_of_one_id_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequestError, match=r"tasks.jsonl:2: the id '1' is another task's too"):
        read_tasks(tasks_file(tmp_path, {"command": "a"}, {"id": "1", "command": "b"}))


def test_results_have_a_known_ending(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequestError, match=r"must end in \.jsonl, \.sqlite or \.db"):
        open_results(tmp_path / "results.txt")
    (tmp_path / "no.sqlite").write_text("this is no database, whatever its name says" * 50, encoding="utf-8")
    with pytest.raises(InvalidRequestError, match="cannot be used"):
        open_results(tmp_path / "no.sqlite")


@pytest.mark.parametrize("name", ["results.sqlite", "results.jsonl"])
async def test_a_map_goes_on_where_it_stopped_and_names_what_it_does_not_know(tmp_path: Path, name: str) -> None:
    tasks = [Task(str(n), f"echo {n} >>ran; exit {n % 2}", cwd=str(tmp_path)) for n in range(6)]
    results = open_results(tmp_path / name)
    first = await map_tasks(tasks[:3], ContainedBackend(), results, at_once=2)
    assert first == Tally(3, succeeded=2, failed=1)
    # The process ended right after it had noted the start of this one.
    results.started("3", {"command": tasks[3].command})
    results.close()
    if name.endswith("jsonl"):
        with (tmp_path / name).open("ab") as file:
            file.write(b'{"id": "4", "sta')
    again = open_results(tmp_path / name)
    assert await map_tasks(tasks, ContainedBackend(), again, at_once=4) == Tally(
        6, succeeded=1, failed=1, unknown=1, skipped=3
    )
    assert sorted((tmp_path / "ran").read_text(encoding="utf-8").split()) == ["0", "1", "2", "4", "5"]
    states = {one.id: one.state for one in again.known()}
    assert states == {"0": "done", "1": "done", "2": "done", "3": "unknown", "4": "done", "5": "done"}
    assert await map_tasks(tasks, ContainedBackend(), again, at_once=4, retry_unknown=True) == Tally(
        6, failed=1, skipped=5
    )
    again.close()


async def test_a_task_that_cannot_start_is_a_failure_with_its_reason(tmp_path: Path) -> None:
    results = open_results(tmp_path / "results.jsonl")
    tally = await map_tasks([Task("a", "true", cwd="/no-such-place")], ContainedBackend(), results, at_once=1)
    (known,) = results.known()
    results.close()
    assert (tally.failed, known.facts["outcome"]) == (1, "notStarted")
    assert "/no-such-place" in known.facts["error"]
