"""The `job` tool: one verb per call, answers that a model can act on."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from nacre.contracts.contract import Reply
from nacre.jobs.notices import completions, is_claimed
from nacre.jobs.polling import poll
from nacre.jobs.table import JobTable
from nacre.tool import Tool

ONE_VERB = "give exactly one of list, poll, cancel, read, write per call"
KNOWN = "known fields: list, all, poll, until, wait, cancel, read, lines, tail, grep, offset, limit, write, text"
EVENTS = "regex, port, file, quiet"
UNFINISHED = "unterminated character set at position 0"

Start = Callable[[str], Awaitable[str]]


@pytest.fixture
async def start(home: Path) -> AsyncIterator[Start]:
    """Start a command as a job; whatever runs at the end is stopped."""
    table = JobTable(home)

    async def start(command: str) -> str:
        reply = await Tool("modes").call({"command": command, "mode": "background"})
        assert not reply.is_error, reply.text
        return str(reply.details["jobId"])

    yield start
    for job in table.list().jobs:
        if job.running:
            table.stop(job.id)
            await poll(table, [job.id], wait=30)


@pytest.fixture
def tool() -> Tool:
    return Tool("job")


async def ended(home: Path, job_id: str) -> None:
    assert (await poll(JobTable(home), [job_id], wait=30)).reason == "ended"


def without_times(reply: Reply) -> list[dict[str, Any]]:
    return [
        {key: value for key, value in job.items() if key not in ("durationMs", "pid", "outputFile")}
        for job in reply.details["jobs"]
    ]


async def test_the_list_tells_running_from_ended(tool: Tool, start: Start, home: Path) -> None:
    assert (await tool.call({"list": True})).json() == {"text": "No jobs.", "is_error": False, "details": {"jobs": []}}
    await ended(home, await start("exit 3"))
    await start("sleep 1000")
    reply = await tool.call({"list": True})
    lines = reply.text.split("\n")
    assert (lines[0], lines[2]) == ("Running (1)", "Ended (1)")
    assert lines[1].startswith("- bg_2 [bash] running, ")
    assert lines[3].startswith("- bg_1 [bash] failed, exit code 3, ")
    assert lines[3].endswith("s: exit 3")
    assert without_times(reply) == [
        {"id": "bg_2", "type": "bash", "status": "running", "label": "sleep 1000", "state": "running"},
        {
            "id": "bg_1",
            "type": "bash",
            "status": "failed",
            "label": "exit 3",
            "state": "exited",
            "exitCode": 3,
            "errorText": "exit code 3",
        },
    ]


async def test_a_poll_shows_results_and_the_newest_lines_of_what_still_runs(
    tool: Tool, start: Start, home: Path
) -> None:
    long = await start("seq 1 50; sleep 1000")
    short = await start("echo result; exit 1")
    await ended(home, short)
    assert (await tool.call({"poll": [long], "until": {"regex": "^50$"}})).details["line"] == "50"
    reply = await tool.call({"poll": [long, short, "bg_9"]})
    lines = reply.text.split("\n")
    assert lines[:3] == ["[no job 'bg_9']", "", "## Completed (1)"]
    assert lines[4:7] == ["```", "result", "```"]
    assert lines[8] == "## Still running (1)"
    assert lines[10:] == ["```", *map(str, range(41, 51)), "```"]
    assert (reply.details["reason"], reply.details["by"], reply.details["unknown"]) == ("ended", short, ["bg_9"])
    assert reply.details["jobs"][0]["resultText"] == "result"
    table = JobTable(home)
    assert (is_claimed(table.get(short)), is_claimed(table.get(long))) == (True, False)


async def test_a_result_that_a_poll_returns_is_not_delivered_as_well(tool: Tool, start: Start, home: Path) -> None:
    told = []

    async def listen() -> None:
        async for job in completions(JobTable(home), lambda _: True):
            told.append(job.id)

    listening = asyncio.create_task(listen())
    for _ in range(5):
        job_id = await start("sleep 0.1")
        assert (await tool.call({"poll": [job_id]})).details["by"] == job_id
    last = await start("true")
    async with asyncio.timeout(30):
        while last not in told:
            await asyncio.sleep(0.01)
    listening.cancel()
    await asyncio.wait([listening])
    assert told == [last]


async def test_a_poll_without_ids_is_of_all_that_run(tool: Tool, start: Start, home: Path) -> None:
    assert (await tool.call({"poll": []})).text == "No jobs are running."
    await ended(home, await start("true"))
    await start("sleep 1000")
    reply = await tool.call({"poll": [], "wait": 0})
    assert (reply.text.split("\n")[0], [job["id"] for job in reply.details["jobs"]]) == (
        "None has ended yet.",
        ["bg_2"],
    )


async def test_a_poll_says_which_event_happened(tool: Tool, start: Start, tmp_path: Path) -> None:
    await start(f"echo '> ready in 5 ms'; touch {tmp_path}/made; sleep 1000")
    matched = await tool.call({"poll": ["bg_1"], "until": {"regex": r"ready in \d+"}})
    assert matched.text.split("\n")[0] == r"In bg_1 a line matches /ready in \d+/: > ready in 5 ms"
    made = await tool.call({"poll": "bg_1", "until": {"file": f"{tmp_path}/made"}})
    assert made.text.split("\n")[0] == f"It happened: {tmp_path}/made exists (bg_1)."
    quiet = await tool.call({"poll": ["bg_1"], "until": {"quiet": 0.1}})
    assert quiet.text.split("\n")[0] == "It happened: no output for 0.1 s (bg_1)."
    nothing = await tool.call({"poll": ["bg_1"], "until": {"regex": "steady"}, "wait": 0})
    assert nothing.text.split("\n")[0] == "None has ended yet, nor was it true that a line matches /steady/."


async def test_many_results_fit_into_one_answer(tool: Tool, start: Start, home: Path) -> None:
    jobs = [await start("seq 1 20000") for _ in range(12)]
    for job_id in jobs:
        await ended(home, job_id)
    reply = await tool.call({"poll": jobs})
    assert len(reply.text.encode()) <= 51 * 1024
    assert reply.text.count("\n19999\n20000\n```") == 12


async def test_cancel_ends_a_job_and_tells_for_each_id_what_became_of_it(tool: Tool, start: Start, home: Path) -> None:
    await start("sleep 1000 & sleep 1000")
    await ended(home, await start("true"))
    reply = await tool.call({"cancel": ["bg_1", "bg_2", "bg_7"]})
    assert reply.text == "bg_1: cancelled\nbg_2: had ended already\nbg_7: not found; list: true names the jobs"
    assert reply.details["cancelled"] == [
        {"id": "bg_1", "status": "cancelled"},
        {"id": "bg_2", "status": "already_completed"},
        {"id": "bg_7", "status": "not_found"},
    ]
    assert [job["status"] for job in reply.details["jobs"]] == ["cancelled"]
    assert is_claimed(JobTable(home).get("bg_1"))
    assert (await tool.call({"cancel": ["bg_7"]})).is_error


async def test_a_running_job_is_read_on_where_the_last_reading_ended(tool: Tool, start: Start, tmp_path: Path) -> None:
    go = tmp_path / "go"
    os.mkfifo(go)
    await start(f"echo one; read x <{go}; echo two; sleep 1000")
    await tool.call({"poll": ["bg_1"], "until": {"regex": "one"}})
    first = await tool.call({"read": "bg_1"})
    assert first.text.split("\n")[:2] == [
        "one",
        "[bytes 0-4 of 4 so far (4B); go on with offset 4]",
    ]
    assert (first.details["nextOffset"], first.details["totalBytes"]) == (4, 4)
    assert (await tool.call({"read": "bg_1", "offset": 4})).text.startswith("(nothing new)\n")
    go.write_text("go\n", encoding="utf-8")
    await tool.call({"poll": ["bg_1"], "until": {"regex": "two"}})
    assert (await tool.call({"read": "bg_1", "offset": 4})).text.startswith("two\n")


async def test_a_long_output_is_read_from_its_end_unless_asked_otherwise(tool: Tool, start: Start, home: Path) -> None:
    await ended(home, await start("seq 1 100000"))
    newest = await tool.call({"read": "bg_1"})
    lines = newest.text.split("\n")
    first, last = int(lines[0]), lines.index("100000")
    assert lines[:last] == [str(n) for n in range(first, 100_000)]
    assert lines[last + 3 :][0] == "[background process completed]"
    assert (await tool.call({"read": "bg_1", "offset": 0, "limit": 8})).text.startswith("1\n2\n3\n4\n[bytes 0-8 of ")
    found = await tool.call({"read": "bg_1", "grep": "^9999.$", "limit": 40})
    assert [match["text"] for match in found.details["matches"]] == ["99990"]
    tail = await tool.call({"read": "bg_1", "tail": 4})
    assert tail.text.startswith("100000\n\n\n[background process completed]\n[bytes ")


async def test_a_job_without_open_stdin_says_how_to_have_one(tool: Tool, start: Start, home: Path) -> None:
    await start("sleep 1000")
    reply = await tool.call({"write": "bg_1", "text": "x"})
    assert (reply.text, reply.is_error) == (
        "bg_1: stdin is closed; start the command with pty: true to keep it open",
        True,
    )
    (home / "jobs" / "bg_1" / "stdin").write_bytes(b"")
    assert (await tool.call({"write": "bg_1", "text": "x"})).text.startswith("bg_1: stdin is closed")
    assert (home / "jobs" / "bg_1" / "stdin").read_bytes() == b""


async def test_text_reaches_a_job_whose_stdin_is_open_and_a_full_pipe_is_an_error(
    tool: Tool, start: Start, home: Path
) -> None:
    await start("sleep 1000")
    pipe = home / "jobs" / "bg_1" / "stdin"
    os.mkfifo(pipe)
    assert (await tool.call({"write": "bg_1", "text": "x"})).text == "bg_1 has closed its stdin; nothing was written"
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    reply = await tool.call({"write": "bg_1", "text": "jä\n"})
    assert (reply.text, reply.details) == ("Wrote 4 bytes to bg_1.", {"id": "bg_1", "writtenBytes": 4})
    assert os.read(reader, 100).decode() == "jä\n"
    assert not (await tool.call({"write": "bg_1", "text": "x" * 65536})).is_error
    full = await tool.call({"write": "bg_1", "text": "more"})
    assert full.text == (
        "bg_1 does not read its stdin: 0 of 4 bytes were written; wait until it reads, then write the rest"
    )
    os.close(reader)


async def test_nothing_is_written_to_a_job_that_has_ended(tool: Tool, start: Start, home: Path) -> None:
    await ended(home, await start("exit 2"))
    reply = await tool.call({"write": "bg_1", "text": "x"})
    assert reply.text == "bg_1 has ended (exit code 2); nothing reads its stdin any more"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, f"{ONE_VERB}, got none"),
        ({"list": False}, f"{ONE_VERB}, got none"),
        ({"list": True, "poll": ["bg_1"]}, f"{ONE_VERB}, got list and poll"),
        ({"list": "yes"}, "field 'list' must be true, got \"yes\""),
        ({"list": True, "wait": 3}, "field 'wait' goes with poll, not with list; leave it out"),
        ({"poll": ["bg_1"], "tail": 3}, "field 'tail' goes with read, not with poll; leave it out"),
        ({"poll": 3}, "field 'poll' must be a list of job ids, got 3"),
        ({"poll": ["bg_1"], "wait": -1}, "field 'wait' must be a number of at least 0, got -1"),
        ({"poll": ["bg_1"], "wait": "5"}, "field 'wait' must be a number of at least 0, got \"5\""),
        ({"poll": ["bg_1"], "until": "ready"}, f"field 'until' must be an object with one of {EVENTS}, got \"ready\""),
        ({"poll": ["bg_1"], "until": {}}, f"field 'until' takes exactly one of {EVENTS}, got none"),
        (
            {"poll": ["bg_1"], "until": {"regex": "a", "port": 1}},
            f"field 'until' takes exactly one of {EVENTS}, got regex and port",
        ),
        ({"poll": ["bg_1"], "until": {"seconds": 1}}, f"field 'until.seconds' is unknown; known are {EVENTS}"),
        (
            {"poll": ["bg_1"], "until": {"port": True}},
            "field 'until.port' must be a port number from 1 to 65535, got true",
        ),
        ({"poll": ["bg_1"], "until": {"quiet": 0}}, "field 'until.quiet' must be a number of seconds above 0, got 0"),
        ({"poll": ["bg_1"], "until": {"file": ""}}, "field 'until.file' must be a path, got \"\""),
        (
            {"poll": ["bg_1"], "until": {"regex": "["}},
            f"field 'until.regex' is \"[\": it is not a regular expression: {UNFINISHED}",
        ),
        ({"poll": ["bg_1"]}, "no job 'bg_1'; known jobs: none"),
        ({"cancel": []}, "field 'cancel' is empty; name the jobs to end"),
        ({"read": 3}, "field 'read' must be a job id, got 3"),
        ({"read": "bg_1"}, "no job 'bg_1'; known jobs: none"),
        ({"read": "../../etc"}, "no job '../../etc'; known jobs: none"),
        ({"pol": ["bg_1"]}, "unknown field 'pol' (value [\"bg_1\"]); did you mean 'poll'?"),
    ],
)
async def test_a_call_that_cannot_be_answered_says_what_would_do(tool: Tool, arguments: object, message: str) -> None:
    reply = await tool.call(arguments)
    assert (reply.text, reply.is_error) == (message, True)


def test_the_schema_has_no_top_level_choice_and_names_every_field(tool: Tool) -> None:
    schema = tool.schema()
    assert schema["name"] == "job"
    assert set(schema["input_schema"]) == {"type", "properties", "additionalProperties"}
    assert set(schema["input_schema"]["properties"]) == {
        *(
            "list",
            "all",
            "poll",
            "until",
            "wait",
            "cancel",
            "read",
            "lines",
            "tail",
            "grep",
            "offset",
            "limit",
            "screen",
            "write",
            "text",
        )
    }
