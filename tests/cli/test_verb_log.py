"""`nacre log`: one call a line, as data or for people."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from cli.conftest import Finished, Nacre
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
