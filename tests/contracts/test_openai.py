"""The `openai` contract: the `shell` action of the Responses API, its output item, and nothing else."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from workbench import gone

from nacre import audit
from nacre.contracts.openai import (
    ACTION,
    DEFAULT_CHARACTERS,
    ITEM,
    LONGEST_SECONDS,
    MOST_CHARACTERS,
    NOT_RUN,
    REFUSED,
    CommandSeries,
    OpenAI,
)
from nacre.contracts.two_streams import view
from nacre.errors import InvalidRequestError
from nacre.output.captured import Captured
from nacre.result import Exited, Lost, Output, ShellResult, Stopped
from nacre.settings import ExecutionSettings, Settings
from nacre.tool import Tool
from nacre.tool_events import Update


async def call(arguments: object, **options: Any) -> dict[str, Any]:
    async with Tool("openai", **options) as tool:
        return (await tool.call(arguments)).json()


def exited(code: int, stdout: str = "", stderr: str = "") -> dict[str, Any]:
    return {"stdout": stdout, "stderr": stderr, "outcome": {"type": "exit", "exit_code": code}}


# The shape of the action and of its output.


async def test_each_command_has_its_stdout_stderr_and_outcome_in_order() -> None:
    assert await call({"commands": ["echo out; echo err >&2", "exit 3", "kill -9 $$", "printf x"]}) == {
        "output": [exited(0, "out\n", "err\n"), exited(3), exited(137), exited(0, "x")]
    }


async def test_the_reply_is_an_error_when_a_command_was_no_success() -> None:
    async with Tool("openai") as tool:
        good, bad = await tool.call({"commands": ["true"]}), await tool.call({"commands": ["echo a", "exit 3"]})
    assert (good.is_error, bad.is_error, bad.text) == (False, True, "a\n")
    assert bad.details == {"outcomes": [{"type": "exit", "exit_code": 0}, {"type": "exit", "exit_code": 3}]}


async def test_a_whole_shell_call_item_is_answered_by_a_whole_output_item() -> None:
    item = {
        "type": "shell_call",
        "id": "sh_1",
        "call_id": "call_1",
        "status": "completed",
        "environment": {"type": "local"},
        "action": {"commands": ["echo hi"], "timeout_ms": 5000, "max_output_length": 100},
    }
    assert await call(item) == {
        "type": "shell_call_output",
        "call_id": "call_1",
        "max_output_length": 100,
        "output": [exited(0, "hi\n")],
    }


async def test_nulls_are_fields_that_were_not_given() -> None:
    arguments = {"commands": ["echo hi"], "timeout_ms": None, "max_output_length": None}
    assert await call(arguments) == {"output": [exited(0, "hi\n")]}


async def test_commands_share_the_directory_and_nothing_of_the_shell(tmp_path: Path) -> None:
    commands = ["x=1; cd /; echo kept >&2", "echo ${x-unset}; pwd; touch made", "ls made"]
    assert await call({"commands": commands}, cwd=tmp_path) == {
        "output": [exited(0, "", "kept\n"), exited(0, f"unset\n{tmp_path}\n"), exited(0, "made\n")]
    }


# Refusals: the output item with a failure.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("ls", 'arguments must be a JSON object, got "ls"'),
        ({}, "field 'commands' must be a list of one shell command or more, got null"),
        ({"commands": []}, "field 'commands' must be a list of one shell command or more, got []"),
        ({"commands": "ls"}, "field 'commands' must be a list of one shell command or more, got \"ls\""),
        ({"commands": ["ls", 7]}, "field 'commands[1]' must be a string, got 7"),
        ({"commands": ["ls", " "]}, "empty command: field 'commands[1]' is blank, give a shell command"),
        (
            {"commands": ["a\0b"]},
            "field 'commands[0]' holds a NUL character at position 1; no program can be given one",
        ),
        (
            {"commands": ["ls"], "timeout_ms": 0},
            "field 'timeout_ms' must be a whole number of at least 1, got 0",
        ),
        (
            {"commands": ["ls"], "timeout_ms": True},
            "field 'timeout_ms' must be a whole number of at least 1, got true",
        ),
        (
            {"commands": ["ls"], "max_output_length": -1},
            "field 'max_output_length' must be a whole number of at least 0, got -1",
        ),
        (
            {"commands": ["ls"], "timeout": 3},
            "unknown field 'timeout' (value 3); did you mean 'timeout_ms'?",
        ),
        ({"type": "local_shell_call", "action": {}}, "field 'type' must be 'shell_call', got \"local_shell_call\""),
        ({"type": "shell_call", "action": {}}, "field 'call_id' must be a string, got null"),
    ],
)
async def test_a_refused_request_is_an_output_item_that_names_the_field(arguments: object, message: str) -> None:
    assert await call(arguments) == {"output": [exited(NOT_RUN, "", f"{message}\n")]}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=9,
)


@given(JSON | st.fixed_dictionaries({}, optional=dict.fromkeys([*ACTION, *ITEM], JSON)))
def test_whatever_a_model_sends_is_read_or_refused(arguments: object) -> None:
    try:
        call = OpenAI().decode_series(arguments)
    except InvalidRequestError:
        return
    assert (call.problem is None) == bool(call.requests)
    assert 0 < call.timeout <= LONGEST_SECONDS
    assert 0 <= call.limit <= MOST_CHARACTERS


async def test_a_wrong_action_of_an_item_is_answered_to_its_call() -> None:
    async with Tool("openai") as tool:
        reply = await tool.call({"type": "shell_call", "call_id": "call_1", "action": {"commands": []}})
    message = "field 'commands' must be a list of one shell command or more, got []"
    assert reply.json() == {
        "type": "shell_call_output",
        "call_id": "call_1",
        "output": [exited(NOT_RUN, "", f"{message}\n")],
    }
    assert (reply.is_error, str(reply.refusal)) == (True, message)


async def test_a_denied_command_is_a_failure_of_its_own_and_the_others_run() -> None:
    first, denied, last = (await call({"commands": ["echo one", "rm -rf /", "echo three"]}))["output"]
    assert (first, last) == (exited(0, "one\n"), exited(0, "three\n"))
    assert denied["outcome"] == {"type": "exit", "exit_code": REFUSED}
    assert denied["stderr"].startswith("denied by nacre's guard (rule no_dangerous_rm): this rm")


async def test_a_directory_that_is_none_is_said_of_each_command(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    refused = exited(NOT_RUN, "", f"working directory '{missing}' does not exist\n")
    assert await call({"commands": ["echo a", "echo b"]}, cwd=missing) == {"output": [refused, refused]}


# Time: one limit for the whole call.


async def test_a_timeout_keeps_the_output_so_far_and_starts_nothing_more(tmp_path: Path) -> None:
    commands = ["echo one", "echo two; echo $$ >pid; setsid sleep 1000 & sleep 1000", "touch three"]
    answer = await call({"commands": commands, "timeout_ms": 2000}, cwd=tmp_path)
    assert answer == {
        "output": [
            exited(0, "one\n"),
            {"stdout": "two\n", "stderr": "", "outcome": {"type": "timeout"}},
            {
                "stdout": "",
                "stderr": "[not started: the commands before it took the 2 s of this call]\n",
                "outcome": {"type": "timeout"},
            },
        ]
    }
    assert not (tmp_path / "three").exists()
    await gone(int((tmp_path / "pid").read_text(encoding="utf-8")))


@pytest.mark.parametrize("milliseconds", [86_400_001, 10**400], ids=["a day", "huge"])
def test_a_limit_beyond_a_day_is_a_day_and_says_so(milliseconds: int) -> None:
    decoded = OpenAI().decode_series({"commands": ["true"], "timeout_ms": milliseconds})
    assert decoded.timeout == LONGEST_SECONDS
    assert decoded.requests[0].notices == ("timeout_ms is at most 86400000; that is the limit now",)


async def test_a_cancelled_call_ends_the_command_and_starts_no_other(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    async with Tool("openai", cwd=tmp_path) as tool:
        running = asyncio.create_task(tool.call({"commands": ["echo $$ >fifo; sleep 1000", "touch other"]}))
        pid = int(await asyncio.to_thread(fifo.read_text, encoding="utf-8"))
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    await gone(pid)
    assert not (tmp_path / "other").exists()


# Output: at most so many characters a command, the rest in a file.


async def test_a_long_output_shows_both_ends_and_names_the_file_with_all_of_it() -> None:
    answer = await call({"commands": ["seq 1 100000; echo err >&2"], "max_output_length": 1000})
    (output,) = answer["output"]
    head, _, rest = output["stdout"].partition("\n[… ")
    said, _, tail = rest.partition(" …]\n")
    assert (head.startswith("1\n2\n3\n"), tail.endswith("99999\n100000\n"), output["stderr"]) == (True, True, "err\n")
    told, _, path = said.partition("; all of it: ")
    assert told == "the middle of 588895 bytes of stdout is left out"
    assert Path(path).read_text(encoding="utf-8") == "".join(f"{n}\n" for n in range(1, 100001))
    assert 900 < len(output["stdout"]) + len(output["stderr"]) <= 1000
    assert answer["max_output_length"] == 1000


@pytest.mark.parametrize("letter", ["x", "é", "😀"])
async def test_an_output_of_just_the_limit_is_whole_whatever_its_characters_weigh(letter: str) -> None:
    commands = [f"printf '{letter}%.0s' $(seq 60); printf '{letter}%.0s' $(seq 40) >&2"]
    answer = await call({"commands": commands, "max_output_length": 100})
    assert answer["output"] == [exited(0, letter * 60, letter * 40)]


async def test_two_long_streams_share_the_limit_and_both_are_kept_in_full() -> None:
    commands = ["printf 'o%.0s' $(seq 900); printf 'e%.0s' $(seq 800) >&2"]
    (output,) = (await call({"commands": commands, "max_output_length": 1000}))["output"]
    assert (len(output["stdout"]), len(output["stderr"])) == (500, 500)
    for stream, whole in (("stdout", "o" * 900), ("stderr", "e" * 800)):
        path = output[stream].partition("all of it: ")[2].partition(" …]")[0]
        assert Path(path).read_text(encoding="utf-8") == whole


async def test_in_little_room_a_character_marks_the_cut_and_a_notice_names_the_file(home: Path) -> None:
    async with Tool("openai") as tool:
        reply = await tool.call({"commands": ["seq 1 1000"], "max_output_length": 20})
        nothing = await tool.call({"commands": ["seq 1 1000"], "max_output_length": 0})
    assert reply.json()["output"] == [exited(0, "1\n2\n3\n4…98\n999\n1000\n")]
    assert reply.notices == (
        f"the middle of 3893 bytes of stdout is left out; all of it: {home}/artifacts/1.stdout.log",
    )
    assert nothing.json() == {"max_output_length": 0, "output": [exited(0)]}


async def test_without_a_limit_the_output_is_bounded_all_the_same() -> None:
    (output,) = (await call({"commands": ["yes | head -c 2000000"]}))["output"]
    assert DEFAULT_CHARACTERS - 100 < len(output["stdout"]) <= DEFAULT_CHARACTERS


def test_no_limit_of_a_model_holds_more_than_a_model_can_read() -> None:
    asked = OpenAI().decode_series({"commands": ["true"], "max_output_length": 10**12})
    assert (asked.limit, asked.max_output_length) == (MOST_CHARACTERS, 10**12)


def result_of(stdout: bytes, stderr: bytes, limit: int, notices: tuple[str, ...] = ()) -> ShellResult:
    def output(data: bytes) -> Output:
        captured = Captured(
            whole=data, head=data, tail=data, total_bytes=len(data), total_lines=data.count(b"\n"), artifact=None
        )
        return view(limit, captured)

    return ShellResult(
        command="x",
        outcome=Exited(0),
        output=output(stdout),
        stderr=output(stderr),
        cwd="/",
        started_at=0.0,
        elapsed=0.0,
        notices=notices,
    )


@given(st.binary(max_size=300), st.binary(max_size=300), st.integers(0, 400), st.lists(st.just("notice"), max_size=3))
def test_what_is_shown_never_exceeds_the_limit_and_what_fits_is_whole(
    stdout: bytes, stderr: bytes, limit: int, notices: list[str]
) -> None:
    shown = CommandSeries(max_output_length=limit).present([result_of(stdout, stderr, limit, tuple(notices))])
    (output,) = shown.json()["output"]
    assert len(output["stdout"]) + len(output["stderr"]) <= limit
    texts = stdout.decode("utf-8", "replace"), stderr.decode("utf-8", "replace")
    if not notices and sum(map(len, texts)) <= limit:
        assert (output["stdout"], output["stderr"]) == texts
    elif sum(map(len, texts)) > limit > 1:
        assert "…" in output["stdout"] + output["stderr"]


# Notices and protections.


async def test_notices_are_the_last_lines_of_stderr() -> None:
    # Until it has become sleep, the child of bash is another bash.
    sleeps = "sleep 1000 & until grep -q ^sleep /proc/$!/cmdline; do :; done; echo $!"
    hidden, left = (await call({"commands": ["printf oops >&2; false | true", sleeps]}))["output"]
    assert hidden == exited(0, "", "oops\n[a pipe hides a failure: stage 1 exited with 1]\n")
    pid = left["stdout"].strip()
    assert left == exited(0, f"{pid}\n", f"[still running: pid {pid} (sleep 1000)]\n")
    os.kill(int(pid), signal.SIGKILL)
    await gone(int(pid))


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (Stopped("request"), "[command cancelled: request]\n"),
        (Lost("its runner died"), "[could not run: how the command ended is not known: its runner died]\n"),
    ],
)
def test_an_end_without_an_exit_code_is_no_success(outcome: Any, said: str) -> None:
    from dataclasses import replace

    result = replace(result_of(b"out", b"", 100), outcome=outcome)
    assert CommandSeries().present([result]).json() == {"output": [exited(NOT_RUN, "out", said)]}


async def test_secrets_are_neither_passed_on_nor_shown(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_0123456789abcdefghijABCDEFGHIJ012345")
    commands = ["echo ${GITHUB_TOKEN-none}", "echo ghp_0123456789abcdefghijABCDEFGHIJ012345 >&2"]
    first, second = (await call({"commands": commands}))["output"]
    assert first == exited(0, "none\n")
    assert "ghp_" not in json.dumps(second)
    assert "ghp_" not in json.dumps(list(audit.entries(home)))


async def test_every_command_is_logged_by_itself(home: Path) -> None:
    await call({"commands": ["echo a", "exit 3", "rm -rf /"]})
    logged = [(entry["contract"], entry["command"], entry["outcome"]) for entry in audit.entries(home)]
    assert logged == [
        ("openai", "echo a", "exited"),
        ("openai", "exit 3", "exited"),
        ("openai", "rm -rf /", "denied"),
    ]


async def test_without_a_warden_every_command_says_what_is_not_promised() -> None:
    settings = Settings(execution=ExecutionSettings(containment="off"))
    outputs = (await call({"commands": ["echo a", "echo b"]}, settings=settings))["output"]
    assert [output["stdout"] for output in outputs] == ["a\n", "b\n"]
    assert all("switched off by setting" in output["stderr"] for output in outputs)


async def test_the_commands_of_a_call_are_watched_live_one_after_another() -> None:
    async with Tool("openai") as tool:
        seen = [one async for one in tool.stream({"commands": ["echo one", "echo two >&2"]})]
    updates = [one.text for one in seen if isinstance(one, Update)]
    assert updates[-1] == "one\ntwo\n"
    assert seen[-1].json() == {"output": [exited(0, "one\n"), exited(0, "", "two\n")]}  # type: ignore[union-attr]
