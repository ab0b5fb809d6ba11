"""Whose doing the end of a command is: in every result of another machine, and nowhere for a local command's own."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import nacre
from nacre.cli.verb_run import as_object
from nacre.remote.link_thread import links
from nacre.remote.remote_backend import connect
from nacre.remote.wire import PrefixDialer

ENDS = [
    ("true", {}, ("command", None)),
    ("exit 3", {}, ("command", None)),
    ("kill -9 $$", {}, ("command", None)),
    ("sleep 1000", {"timeout": 0.3}, ("limit", "timeout")),
]


@pytest.fixture(autouse=True)
def no_link_thread(no_leaks: None) -> Iterator[None]:
    """The thread that holds the links ends with the test."""
    yield
    links.end()


def here() -> PrefixDialer:
    return PrefixDialer(["env"], name="here")


def blame(facts: dict[str, Any]) -> tuple[Any, Any]:
    return facts["cause"], facts["clock"]


def newest_entry() -> dict[str, Any]:
    log = Path(os.environ["NACRE_HOME"]) / "log.jsonl"
    entry: dict[str, Any] = json.loads(log.read_text(encoding="utf-8").splitlines()[-1])
    return entry


@pytest.mark.parametrize(("command", "options", "expected"), ENDS)
async def test_each_result_of_another_machine_names_cause_and_clock(
    command: str, options: dict[str, Any], expected: tuple[str, str | None]
) -> None:
    async with await connect(here()) as place:
        result = await nacre.run(command, backend=place, **options)
        assert (result.cause, result.clock) == expected
        assert blame(as_object(result)) == expected
        assert blame(newest_entry()) == expected
        async with nacre.Tool("workspace", backend=place) as tool:
            reply = await tool.call({"command": command} | ({"timeout": 1} if options else {}))
        assert blame(reply.details) == expected


async def test_a_job_of_another_machine_names_cause_and_clock(tmp_path: Path) -> None:
    waiting = "until [ -e go ]; do sleep 0.05; done; exit 3"
    async with (
        await connect(here()) as place,
        nacre.Tool("workspace", backend=place, cwd=tmp_path) as tool,
        nacre.Tool("job") as job,
    ):
        for expected in (("limit", "stop"), ("command", None)):
            started = await tool.call({"command": waiting, "async": True})
            job_id = started.details["async"]["jobId"]
            if expected[0] == "limit":
                await job.call({"cancel": [job_id]})
            else:
                (tmp_path / "go").touch()
            polled = await job.call({"poll": [job_id], "wait": 30})
            assert blame(polled.details["jobs"][0]) == expected


async def test_a_local_command_s_own_doing_is_not_spelled_out(tmp_path: Path) -> None:
    result = await nacre.run("exit 3")
    assert (result.cause, result.clock, result.remote) == ("command", None, False)
    async with nacre.Tool("workspace", cwd=tmp_path, session=False) as tool:
        reply = await tool.call({"command": "exit 3"})
    for facts in (reply.details, as_object(result), newest_entry()):
        assert facts.keys() & {"cause", "clock"} == set()
