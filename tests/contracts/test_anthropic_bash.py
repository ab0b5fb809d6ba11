"""The `anthropic` contract: one persistent shell, `{command, restart}`, text."""

from __future__ import annotations

from pathlib import Path

import pytest

import nacre


async def test_state_stays_until_a_restart(tmp_path: Path) -> None:
    async with nacre.Tool("anthropic", cwd=tmp_path) as tool:
        await tool.call({"command": "cd /usr; x=1"})
        assert (await tool.call({"command": "pwd; echo $x"})).text == "/usr\n1\n"
        reply = await tool.call({"restart": True})
        assert (reply.is_error, reply.text) == (False, "The shell was restarted: directory and variables start anew.")
        assert (await tool.call({"command": "pwd; echo [$x]", "restart": False})).text == f"{tmp_path}\n[]\n"


async def test_a_failure_is_said_first(tmp_path: Path) -> None:
    async with nacre.Tool("anthropic", cwd=tmp_path) as tool:
        reply = await tool.call({"command": "echo out; exit 3"})
        assert (reply.is_error, reply.text) == (True, "[command failed: exit code 3]\nout\n")
        assert reply.details["exitCode"] == 3
        assert (await tool.call({"command": "echo new"})).text.startswith("new\n[new shell: the last one ended")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "field 'command' is missing; it is the shell command to run"),
        ({"restart": False}, "field 'command' is missing; it is the shell command to run"),
        ({"restart": "yes"}, "field 'restart' must be true or false, got \"yes\""),
        (
            {"command": "ls", "restart": True},
            "fields 'command' and 'restart' cannot be combined: restart first, then run the command",
        ),
    ],
)
async def test_what_cannot_be_meant_is_refused(arguments: object, text: str, tmp_path: Path) -> None:
    reply = await nacre.Tool("anthropic", cwd=tmp_path).call(arguments)
    assert (reply.is_error, reply.text) == (True, text)


def test_the_schema_is_the_trained_one() -> None:
    schema = nacre.Tool("anthropic", cwd="/usr").schema()
    assert schema["name"] == "bash"
    assert set(schema["input_schema"]["properties"]) == {"command", "restart"}
    assert schema["description"].endswith("Working directory: /usr")
