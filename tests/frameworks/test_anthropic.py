"""Anthropic's tool runner, async and sync, with a scripted model behind the client's transport."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import promises
import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic.types import ToolBash20250124Param, ToolParam
from pydantic import TypeAdapter

import nacre
from nacre.adapters.anthropic import AsyncShellTool, ShellTool
from nacre.contracts import contract_names
from nacre.contracts.vendors import tool_for

MODEL = "scripted"


class Script:
    """The other side of the wire: a model that calls the tool once, and remembers what it was sent."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        self.requests: list[dict[str, Any]] = []
        self._arguments = arguments

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(json.loads(request.content))
        call = {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": self._arguments}
        first = len(self.requests) == 1
        return httpx2.Response(
            200,
            json={
                "id": f"msg_{len(self.requests)}",
                "type": "message",
                "role": "assistant",
                "model": MODEL,
                "content": [call if first else {"type": "text", "text": "done"}],
                "stop_reason": "tool_use" if first else "end_turn",
                "stop_sequence": None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            },
        )

    async def serve(self, request: httpx2.Request) -> httpx2.Response:
        return self(request)

    @property
    def result(self) -> dict[str, Any]:
        """The tool's result as the model was sent it."""
        (block,) = self.requests[1]["messages"][-1]["content"]
        return dict(block)


async def converse(arguments: dict[str, Any], contract: str = "workspace") -> Script:
    script = Script(arguments)
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


async def test_what_the_model_got_wrong_is_said_by_the_contract() -> None:
    assert "unknown field 'comand'" in await ask({"comand": "echo hi"})


def test_the_sync_runner() -> None:
    assert ask_sync({"command": "echo hi"}).startswith("hi\n")


async def test_the_sync_runner_inside_a_running_event_loop() -> None:
    assert ask_sync({"command": "echo hi"}).startswith("hi\n")


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
