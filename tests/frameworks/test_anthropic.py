"""Anthropic's tool runner, async and sync, with a scripted model behind the client's transport."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import httpx2
import promises
import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic.types import ToolBash20250124Param, ToolParam
from guide import run_example
from pydantic import TypeAdapter

import nacre
from nacre.adapters.anthropic import AsyncShellTool, ShellTool
from nacre.contracts import contract_names
from nacre.contracts.vendors import tool_for

MODEL = "scripted"


class Script:
    """The other side of the wire: a model that makes these calls, and remembers what it was sent."""

    def __init__(self, *calls: dict[str, Any]) -> None:
        self.requests: list[dict[str, Any]] = []
        self._calls = calls

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        turn = len(self.requests)
        self.requests.append(json.loads(request.content))
        calls = turn < len(self._calls)
        text = {"type": "text", "text": "done"}
        call = (
            {"type": "tool_use", "id": f"toolu_{turn}", "name": "bash", "input": self._calls[turn]} if calls else text
        )
        return httpx2.Response(
            200,
            json={
                "id": f"msg_{turn}",
                "type": "message",
                "role": "assistant",
                "model": MODEL,
                "content": [call],
                "stop_reason": "tool_use" if calls else "end_turn",
                "stop_sequence": None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            },
        )

    async def serve(self, request: httpx2.Request) -> httpx2.Response:
        return self(request)

    @property
    def results(self) -> list[dict[str, Any]]:
        """The tool's results as the model was sent them."""
        return [block for request in self.requests[1:] for block in request["messages"][-1]["content"]]

    @property
    def result(self) -> dict[str, Any]:
        (only,) = self.results
        return only


async def converse(*calls: dict[str, Any], contract: str = "workspace") -> Script:
    script = Script(*calls)
    transport = httpx2.MockTransport(script.serve)
    async with (
        nacre.Tool(contract) as tool,
        AsyncAnthropic(api_key="none", http_client=httpx2.AsyncClient(transport=transport)) as client,
    ):
        runner = client.beta.messages.tool_runner(
            max_tokens=100, model=MODEL, messages=[{"role": "user", "content": "go"}], tools=[AsyncShellTool(tool)]
        )
        await runner.until_done()
    return script


def converse_sync(arguments: dict[str, Any]) -> Script:
    script = Script(arguments)
    with Anthropic(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(script))) as client:
        client.beta.messages.tool_runner(
            max_tokens=100,
            model=MODEL,
            messages=[{"role": "user", "content": "go"}],
            tools=[ShellTool(nacre.Tool("workspace"))],
        ).until_done()
    return script


async def ask(arguments: dict[str, Any]) -> str:
    return str((await converse(arguments)).result["content"])


def ask_sync(arguments: dict[str, Any]) -> str:
    return str(converse_sync(arguments).result["content"])


async def test_a_failure_is_marked_as_one() -> None:
    result = (await converse({"command": "echo hi; exit 3"})).result
    assert result["is_error"] is True
    assert result["content"].startswith("hi\n")
    assert result["content"].endswith("Command exited with code 3")


async def test_a_success_is_no_error() -> None:
    result = (await converse({"command": "echo hi"})).result
    assert result.get("is_error", False) is False
    assert result["content"].startswith("hi\n")


async def test_the_model_is_given_the_schema_of_the_contract() -> None:
    script = await converse({"command": "true"})
    assert script.requests[0]["tools"] == [nacre.Tool("workspace").schema()]


async def test_the_shell_that_models_know_persists_and_restarts() -> None:
    look = {"command": "echo x is $x in $PWD"}
    script = await converse({"command": "cd /usr; x=5"}, look, {"restart": True}, look, contract="anthropic")
    assert script.requests[0]["tools"] == [{"type": "bash_20250124", "name": "bash"}]
    _, before, restarted, after = [result["content"] for result in script.results]
    assert (before, after) == ("x is 5 in /usr\n", f"x is in {os.getcwd()}\n")
    assert restarted.startswith("The shell was restarted")


async def test_what_the_model_got_wrong_is_said_by_the_contract() -> None:
    assert "unknown field 'comand'" in await ask({"comand": "echo hi"})


def test_the_sync_runner() -> None:
    assert ask_sync({"command": "echo hi"}).startswith("hi\n")


async def test_the_sync_runner_inside_a_running_event_loop() -> None:
    assert ask_sync({"command": "echo hi"}).startswith("hi\n")


async def test_the_example_of_the_guide() -> None:
    script = Script({"command": "echo $((6 * 7))"})
    transport = httpx2.MockTransport(script.serve)
    async with AsyncAnthropic(api_key="none", http_client=httpx2.AsyncClient(transport=transport)) as client:
        names = await run_example("Anthropic tool runner", model=MODEL, client=client)
    assert names["message"].content[0].text == "done"
    assert script.result["content"] == "42\n"


async def test_secrets_stay_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    promises.check_secret(await ask(promises.with_a_secret(tmp_path, monkeypatch)))


async def test_the_guard_denies() -> None:
    promises.check_denied(await ask(promises.DENIED))


async def test_a_timeout_leaves_nothing() -> None:
    promises.check_timeout(await ask(promises.TIMED))


async def test_a_cancelled_runner_leaves_nothing(tmp_path: Path) -> None:
    await promises.check_cancel(ask, tmp_path)


def test_an_interrupted_sync_runner_leaves_nothing(request: pytest.FixtureRequest) -> None:
    promises.check_interrupt(ask_sync, request)


@pytest.mark.parametrize("contract", contract_names())
def test_every_contract_is_a_tool_of_the_messages_api(contract: str) -> None:
    tool = tool_for("anthropic", contract, nacre.Tool(contract).schema())
    kind: Any = ToolBash20250124Param if contract == "anthropic" else ToolParam
    assert TypeAdapter(kind).validate_python(tool, strict=True) == tool
    assert set(tool) <= set(kind.__annotations__)
