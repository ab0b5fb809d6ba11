"""openai-agents: the ShellTool of an agent whose scripted model makes one shell call."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import promises
import pytest
from agents import Agent, Model, ModelResponse, RunConfig, Runner, ShellTool, Usage, set_tracing_disabled
from agents.items import ToolCallOutputItem
from agents.strict_schema import ensure_strict_json_schema
from guide import run_example
from openai.types.responses import (
    FunctionShellTool,
    FunctionTool,
    ResponseFunctionShellToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from openai.types.responses.response_input_item import ShellCallOutput

import nacre
from nacre.adapters.openai_agents import shell_executor
from nacre.contracts import contract_names
from nacre.contracts.vendors import tool_for


class Scripted(Model):
    """A model that makes one shell call, and remembers what it then reads."""

    def __init__(self, action: dict[str, Any]) -> None:
        call = {"id": "sh_1", "call_id": "call_1", "type": "shell_call", "status": "completed", "action": action}
        text = ResponseOutputText(text="done", type="output_text", annotations=[])
        done = ResponseOutputMessage(id="msg_1", type="message", role="assistant", status="completed", content=[text])
        self._turns = iter([ResponseFunctionShellToolCall.model_validate(call), done])
        self.read: list[Any] = []

    async def get_response(self, *_: Any, input: Any, **__: Any) -> ModelResponse:
        self.read = list(input)
        return ModelResponse(output=[next(self._turns)], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise AssertionError("these tests do not stream")


async def converse(action: dict[str, Any]) -> dict[str, Any]:
    """The item that the model is sent for its call."""
    model = Scripted(action)
    agent = Agent(name="test", model=model, tools=[ShellTool(executor=shell_executor(nacre.Tool("openai")))])
    result = await Runner.run(agent, "go", run_config=RunConfig(tracing_disabled=True))
    assert result.final_output == "done"
    (item,) = [item for item in result.new_items if isinstance(item, ToolCallOutputItem)]
    (sent,) = [item for item in model.read if item.get("type") == "shell_call_output"]
    assert sent["output"] == item.raw_item["output"]
    return dict(sent)


def action(*commands: str, timeout_ms: int | None = None, max_output_length: int | None = None) -> dict[str, Any]:
    return {"commands": list(commands), "timeout_ms": timeout_ms, "max_output_length": max_output_length}


async def ask(arguments: dict[str, Any]) -> str:
    seconds = arguments.get("timeout")
    item = await converse(action(arguments["command"], timeout_ms=seconds and seconds * 1000))
    (output,) = item["output"]
    return str(output["stdout"] + output["stderr"])


async def test_each_command_has_its_streams_and_its_outcome() -> None:
    item = await converse(action("echo out; echo err >&2", "exit 3"))
    assert item["call_id"] == "call_1"
    assert item["output"] == [
        {"stdout": "out\n", "stderr": "err\n", "outcome": {"type": "exit", "exit_code": 0}},
        {"stdout": "", "stderr": "", "outcome": {"type": "exit", "exit_code": 3}},
    ]


async def test_the_limit_of_the_output_is_passed_back() -> None:
    item = await converse(action("seq 1000", max_output_length=200))
    (output,) = item["output"]
    assert item["max_output_length"] == 200
    assert output["stdout"].startswith("1\n2\n")
    assert len(output["stdout"]) <= 200


async def test_a_tool_of_another_contract_is_refused() -> None:
    with pytest.raises(
        nacre.InvalidRequestError, match=r'needs a nacre\.Tool\("openai"\), and this one has the contract \'modes\''
    ):
        shell_executor(nacre.Tool("modes"))


async def test_the_example_of_the_guide(request: pytest.FixtureRequest) -> None:
    # Else the framework reports the run over the network.
    set_tracing_disabled(True)
    request.addfinalizer(lambda: set_tracing_disabled(False))
    model = Scripted(action("echo $((6 * 7))"))
    names = await run_example("openai-agents", model=model)
    assert names["result"].final_output == "done"
    (sent,) = [item for item in model.read if item.get("type") == "shell_call_output"]
    assert sent["output"][0]["stdout"] == "42\n"


async def test_secrets_stay_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    promises.check_secret(await ask(promises.with_a_secret(tmp_path, monkeypatch)))


async def test_the_guard_denies() -> None:
    promises.check_denied(await ask(promises.DENIED))


async def test_a_timeout_leaves_nothing() -> None:
    (output,) = (await converse(action(promises.TIMED["command"], timeout_ms=2000)))["output"]
    assert (output["stdout"], output["outcome"]) == ("began\n", {"type": "timeout"})


async def test_a_cancelled_run_leaves_nothing(tmp_path: Path) -> None:
    await promises.check_cancel(ask, tmp_path)


# The contract and the schemas, by the SDK's own types.


@pytest.mark.parametrize("contract", contract_names())
def test_every_contract_is_a_tool_of_the_responses_api(contract: str) -> None:
    tool = tool_for("openai", contract, nacre.Tool(contract).schema())
    kind = FunctionShellTool if tool["type"] == "shell" else FunctionTool
    assert kind.model_validate(tool).model_dump(exclude_none=True) == tool
    if "parameters" in tool:
        # The rules of strict mode have nothing left to change.
        assert ensure_strict_json_schema(copy.deepcopy(tool["parameters"])) == tool["parameters"]


async def test_a_shell_call_is_answered_with_an_item_of_the_api() -> None:
    action = {"commands": ["echo hi", "sleep 100"], "timeout_ms": 500, "max_output_length": 99}
    item = {"id": "sh_1", "call_id": "call_1", "type": "shell_call", "status": "completed", "action": action}
    call = ResponseFunctionShellToolCall.model_validate(item)
    async with nacre.Tool("openai") as tool:
        answer = (await tool.call(call.model_dump())).json()
    assert ShellCallOutput.model_validate(answer).model_dump(exclude_none=True) == answer
    assert [output["outcome"]["type"] for output in answer["output"]] == ["exit", "timeout"]
