"""Places and shapes of a program's own: a backend and a contract go where the built-in ones go (D33)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import nacre
from nacre.contracts.basic import Basic
from nacre.testing import Play, ScriptedBackend

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PATIENCE_SECONDS = 30.0
HELLO = {"echo hi": Play(writes=((1, b"from the play\n"),), code=7)}


async def test_run_starts_the_command_in_the_given_place() -> None:
    result = await nacre.run("echo hi", backend=ScriptedBackend(HELLO))
    assert (result.text, result.exit_code) == ("from the play\n", 7)


async def test_two_places_do_not_share_what_is_remembered_of_a_command() -> None:
    first = ScriptedBackend({"echo hi": Play(writes=((1, b"one\n"),))})
    second = ScriptedBackend({"echo hi": Play(writes=((1, b"two\n"),))})
    texts = [(await nacre.run("echo hi", backend=place)).text for place in (first, second, None)]
    assert texts == ["one\n", "two\n", "hi\n"]


@pytest.mark.parametrize("contract", ["basic", "modes", "workspace", "anthropic"])
async def test_a_tool_runs_its_commands_in_the_given_place(contract: str) -> None:
    async with nacre.Tool(contract, backend=ScriptedBackend(HELLO)) as tool:
        reply = await tool.call({"command": "echo hi"})
    assert "from the play" in reply.text


async def test_the_guard_judges_before_a_place_is_asked() -> None:
    async with nacre.Tool("workspace", backend=ScriptedBackend({})) as tool:
        reply = await tool.call({"command": "rm -rf /"})
    assert isinstance(reply.refusal, nacre.DeniedError)


async def test_a_place_that_keeps_nothing_offers_neither_jobs_nor_a_session() -> None:
    schema = nacre.Tool("workspace", backend=ScriptedBackend({})).schema()
    assert not {"async", "until"} & set(schema["input_schema"]["properties"])
    assert "State (cwd, variables, functions) does not carry over" in schema["description"]


async def test_an_error_of_the_place_is_the_contract_s_refusal() -> None:
    async with nacre.Tool("workspace", backend=ScriptedBackend({})) as tool:
        reply = await tool.call({"command": "echo unknown"})
    assert (reply.is_error, reply.text) == (True, "no play was prepared for 'echo unknown'")


async def test_a_contract_is_given_as_an_object() -> None:
    async with nacre.Tool(Basic()) as tool:
        assert tool.contract == "basic"
        assert (await tool.sharing().call({"command": "echo hi"})).json()["stdout"] == "hi\n"


def mcp(*arguments: str, messages: list[dict[str, object]]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nacre", "mcp", *arguments],
        input="".join(json.dumps(message) + "\n" for message in messages),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(EXAMPLES)},
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def test_a_server_runs_commands_in_the_place_it_is_told() -> None:
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    call = {"name": "bash", "arguments": {"command": "echo hi"}}
    done = mcp(
        "--backend",
        "own_backend:Subprocesses",
        messages=[
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
        ],
    )
    answers = {answer.get("id"): answer for answer in map(json.loads, done.stdout.splitlines())}
    text = answers[2]["result"]["content"][0]["text"]
    assert text.startswith("hi\n")
    assert "without containment: what leaves its session is not found" in text


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("no_such_module:X", "No module named 'no_such_module'"),
        ("own_backend:Missing", "has no attribute 'Missing'"),
        ("own_backend", "write MODULE:NAME"),
        ("json:JSONDecoder", "is no backend: it needs start, keeps and notice"),
    ],
)
def test_a_place_that_cannot_be_had_is_an_error_that_names_it(spec: str, problem: str) -> None:
    done = mcp("--backend", spec, messages=[])
    assert done.returncode != 0
    assert spec in done.stderr
    assert problem in done.stderr


def test_a_place_that_is_no_object_is_refused_with_the_way_to_make_one() -> None:
    with pytest.raises(nacre.NacreError, match=r'backend must be an object with a method start, got "docker:web";'):
        nacre.run_sync("true", backend="docker:web")
