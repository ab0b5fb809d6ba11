"""The chart counts what the log says, as the log grows and is turned over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nacre.web.activity import Activity, shown_bytes

NOW = 1_800_000_000.0


def write(path: Path, *entries: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="ascii") as file:
        file.writelines(json.dumps(entry) + "\n" for entry in entries)


def call(minutes_ago: float, **facts: Any) -> dict[str, Any]:
    return {"time": NOW - minutes_ago * 60, "outcome": "exited", "exitCode": 0, "stdoutBytes": 400, **facts}


async def test_new_entries_are_added_each_once_and_a_turned_over_log_goes_on(home: Path) -> None:
    log = home / "log.jsonl"
    activity = Activity(str(home), most_shown_bytes=51_200)
    assert await activity.update(NOW) is None
    assert sum(activity.bars("hour", NOW)["calls"]) == 0
    write(home / "log.jsonl.1", call(40))
    write(log, call(10), call(10, exitCode=1), call(6 * 1440))
    for _ in range(2):
        await activity.update(NOW)
        found = activity.bars("hour", NOW)
        assert (sum(found["calls"]), sum(found["failed"]), sum(found["tokens"])) == (3, 1, 300)
    assert found["calls"][-11] == 2
    write(log, call(20))
    log.rename(home / "log.jsonl.1")
    write(log, call(0, outcome="timedOut", exitCode=None))
    await activity.update(NOW)
    found = activity.bars("hour", NOW)
    assert (sum(found["calls"]), found["calls"][-1], found["failed"][-1]) == (5, 1, 1)
    assert sum(activity.bars("week", NOW)["calls"]) == 6


async def test_half_a_line_is_taken_when_it_is_whole(home: Path) -> None:
    log = home / "log.jsonl"
    activity = Activity(str(home), most_shown_bytes=51_200)
    line = json.dumps(call(1))
    write(log, call(2))
    with log.open("a", encoding="ascii") as file:
        file.write(line[:20])
        file.flush()
        await activity.update(NOW)
        assert sum(activity.bars("hour", NOW)["calls"]) == 1
        file.write(line[20:] + "\n")
        file.flush()
        await activity.update(NOW)
    assert sum(activity.bars("hour", NOW)["calls"]) == 2


async def test_a_log_that_cannot_be_read_is_said(home: Path) -> None:
    home.mkdir()
    (home / "log.jsonl").mkdir()
    problem = await Activity(str(home), most_shown_bytes=1).update(NOW)
    assert problem == "the log cannot be read: Is a directory"


async def test_old_minutes_are_not_held(home: Path) -> None:
    activity = Activity(str(home), most_shown_bytes=1)
    for minute in range(0, 3 * 7 * 1440, 60):
        activity.add(call(minute))
    await activity.update(NOW)
    assert len(activity._minutes) <= 7 * 24 + 1


@pytest.mark.parametrize(
    ("entry", "size"),
    [
        ({"stdoutBytes": 100, "stderrBytes": 20}, 120),
        ({"stdoutBytes": 10**9}, 1000),
        ({"stdoutBytes": 10**9, "minimized": {"shownBytes": 77}}, 77),
        ({"stdoutBytes": 100, "jobId": "bg_1"}, 0),
        ({"stdoutBytes": 100, "by": "person"}, 0),
        ({"stdoutBytes": None}, 0),
        ({}, 0),
    ],
)
def test_what_a_model_was_shown(entry: dict[str, Any], size: int) -> None:
    assert shown_bytes(entry, 1000) == size
