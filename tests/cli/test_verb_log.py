"""`nacre log`: one call a line, as data or for people."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import PATIENCE_SECONDS, Finished, Nacre
from nacre import audit
from nacre.engine.call_log import AuditLog


def append(home: Path, entry: dict[str, Any]) -> None:
    log = AuditLog(home, cap_bytes=10**6)
    log.append(entry)
    log.close()


def test_json_is_one_object_a_line_with_the_facts_of_each_call(nacre: Nacre, tmp_path: Path) -> None:
    nacre("run", "--", "echo one", cwd=tmp_path)
    nacre("call", "basic", '{"command": "echo two >&2; exit 2"}', cwd=tmp_path)
    done = nacre("log", "--json")
    entries = [json.loads(line) for line in done.out.splitlines()]
    for entry in entries:
        assert entry.pop("time") > 0
        assert entry.pop("durationMs") >= 0
    assert len({entry.pop("call") for entry in entries}) == 2
    assert (done.code, done.err) == (0, "")
    assert entries == [
        {
            "contract": "run",
            "command": "echo one",
            "cwd": str(tmp_path),
            "outcome": "exited",
            "exitCode": 0,
            "stdoutBytes": 4,
            "stderrBytes": 0,
        },
        {
            "contract": "basic",
            "command": "echo two >&2; exit 2",
            "cwd": str(tmp_path),
            "outcome": "exited",
            "exitCode": 2,
            "stdoutBytes": 0,
            "stderrBytes": 4,
        },
    ]


def test_people_get_a_line_with_time_contract_status_duration_size_and_command(nacre: Nacre, home: Path) -> None:
    entry = {
        "time": 0.0,
        "contract": "basic",
        "command": "echo 'two\nlines' \u202e",
        "outcome": "exited",
        "exitCode": 2,
        "durationMs": 1234.5,
        "stdoutBytes": 10,
        "stderrBytes": 5,
    }
    append(home, entry)
    append(home, {"time": 0.0, "contract": "modes", "command": "rm -rf /", "outcome": "denied"})
    assert nacre("log", env={"TZ": "UTC"}) == Finished(
        0,
        "1970-01-01 00:00:00  basic     exited 2        1.23s         15 B  \"echo 'two\\nlines' \\u202e\"\n"
        '1970-01-01 00:00:00  modes     denied              -          0 B  "rm -rf /"\n',
        "",
    )


def test_the_last_calls_can_be_asked_for(nacre: Nacre, home: Path) -> None:
    for number in range(5):
        append(home, {"command": f"echo {number}"})
    done = nacre("log", "--json", "-n", "2")
    assert [json.loads(line)["command"] for line in done.out.splitlines()] == ["echo 3", "echo 4"]


# Filters.

ENTRIES: list[dict[str, Any]] = [
    {"command": "good", "outcome": "exited", "exitCode": 0, "cwd": "/p/a"},
    {"command": "bad", "outcome": "exited", "exitCode": 2, "cwd": "/p/a/b"},
    {"command": "slow", "outcome": "timedOut", "exitCode": None, "cwd": "/p/ab"},
    {"command": "old", "outcome": "timedout", "exitCode": None, "cwd": "/q"},
    {"command": "refused", "outcome": "denied", "cwd": "/q"},
]


@pytest.mark.parametrize(
    ("filters", "commands"),
    [
        (["--failed"], ["bad", "slow", "old", "refused"]),
        (["--outcome", "timedOut"], ["slow", "old"]),
        (["--outcome", "denied"], ["refused"]),
        (["--project", "/p/a"], ["good", "bad"]),
        (["--failed", "--project", "/p/a"], ["bad"]),
        (["--failed", "-n", "1"], ["refused"]),
    ],
    ids=str,
)
def test_calls_are_chosen_by_failure_outcome_and_project(
    nacre: Nacre, home: Path, filters: list[str], commands: list[str]
) -> None:
    for entry in ENTRIES:
        append(home, {"time": 0.0, **entry})
    done = nacre("log", "--json", *filters)
    assert [json.loads(line)["command"] for line in done.out.splitlines()] == commands


def test_the_project_is_that_of_the_directory(nacre: Nacre, home: Path, tmp_path: Path) -> None:
    below = tmp_path / "project" / "src"
    below.mkdir(parents=True)
    (below.parent / "nacre.toml").touch()
    nacre("run", "--", "echo inside", cwd=below)
    nacre("run", "--", "echo outside", cwd=tmp_path)
    done = nacre("log", "--json", "--project", ".", cwd=below)
    assert [json.loads(line)["command"] for line in done.out.splitlines()] == ["echo inside"]


# For people.


def test_a_long_command_is_shortened_but_not_in_json(nacre: Nacre, home: Path) -> None:
    append(home, {"time": 0.0, "command": "x" * 1000, "outcome": "exited", "exitCode": 0})
    line = nacre("log").out
    assert line.endswith(f' B  "{"x" * 157}…"\n')
    assert json.loads(nacre("log", "--json").out)["command"] == "x" * 1000


def test_a_terminal_has_a_header_colours_and_rows_of_its_width(nacre: Nacre, home: Path) -> None:
    append(home, {"time": 0.0, "contract": "run", "command": "y" * 300, "outcome": "exited", "exitCode": 3})
    header, row = nacre.at_terminal("log", columns=100).out.splitlines()
    assert header.startswith("\x1b[1m  TIME ")
    assert row.startswith("\x1b[31m✗ ")
    assert "\x1b[31mexited 3    \x1b[0m" in row
    assert len(re.sub(r"\x1b\[\d+m", "", row)) == 100
    plain = nacre.at_terminal("log", columns=100, NO_COLOR="1").out
    assert (plain.startswith("  TIME "), "\x1b" in plain) == (True, False)


def test_following_prints_the_last_calls_and_those_to_come(
    nacre: Nacre, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It would hide that a line stays in a buffer.
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    append(home, {"command": "before"})
    with nacre.start("log", "-f", "--json", stdout=subprocess.PIPE) as following:
        assert following.stdout is not None
        assert json.loads(following.stdout.readline())["command"] == "before"
        append(home, {"command": "one"})
        assert json.loads(following.stdout.readline())["command"] == "one"
        # The log is turned over, and the next call begins a new one.
        os.replace(home / audit.NAME, home / f"{audit.NAME}.1")
        append(home, {"command": "two"})
        assert json.loads(following.stdout.readline())["command"] == "two"
        following.send_signal(signal.SIGINT)
        assert following.wait(PATIENCE_SECONDS) == 128 + signal.SIGINT


def test_no_log_is_an_empty_one(nacre: Nacre) -> None:
    assert nacre("log", "--json") == Finished(0, "", "")


def test_what_was_damaged_is_left_out(nacre: Nacre, home: Path) -> None:
    append(home, {"command": "first"})
    with open(home / audit.NAME, "ab") as log:
        log.write(b'{"command": "hal\n\xff\xfe\n[1]\n')
    append(home, {"command": "last"})
    done = nacre("log", "--json")
    assert [json.loads(line)["command"] for line in done.out.splitlines()] == ["first", "last"]


def test_a_log_that_cannot_be_read_is_one_line_on_stderr(nacre: Nacre, home: Path) -> None:
    os.makedirs(home / audit.NAME)
    done = nacre("log")
    assert (done.code, done.out, done.err) == (
        125,
        "",
        f"nacre: the log {home / audit.NAME} cannot be read: is a directory; "
        "set NACRE_HOME to a directory that can be used\n",
    )


def test_show_has_every_fact_of_a_call_by_its_id_of_a_job_by_its_own_and_of_the_newest(
    nacre: Nacre, tmp_path: Path
) -> None:
    nacre("run", "--", "echo one", cwd=tmp_path)
    nacre("call", "modes", '{"command": "exit 3", "mode": "background"}', cwd=tmp_path)
    nacre("jobs", "wait", "bg_1")
    first, *job = [json.loads(line) for line in nacre("log", "--json").out.splitlines()]
    shown = nacre("log", "show", first["call"])
    assert (shown.code, shown.err) == (0, "")
    facts = dict(line.split(None, 1) for line in shown.out.splitlines())
    assert facts.pop("time").startswith("20")
    assert facts == {name: json.dumps(value) for name, value in first.items() if name != "time"}
    assert [json.loads(line) for line in nacre("log", "show", "bg_1", "--json").out.splitlines()] == job
    assert nacre("log", "show", "--json").out.splitlines()[-1] == json.dumps(job[-1])


def test_show_of_a_call_that_is_not_there_says_where_ids_are(nacre: Nacre) -> None:
    assert nacre("log", "show").out == "no calls\n"
    nacre("run", "--", "true")
    done = nacre("log", "show", "bg_7")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("nacre: no call 'bg_7' in the log; `nacre log --json` has the ids of calls")
    assert nacre("log", "shwo").err == "nacre: nacre log takes no arguments, or show and one id; got 'shwo'\n"
