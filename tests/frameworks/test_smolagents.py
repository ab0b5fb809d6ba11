"""smolagents: agents that call tools, and agents that write code, with a scripted model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promises
import pytest
from guide import run_example
from smolagents import CodeAgent, LogLevel, Model, ToolCallingAgent
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole

import nacre
from nacre.adapters.smolagents import ShellTool


class Scripted(Model):
    """A model that says these messages one after another."""

    def __init__(self, messages: Iterator[ChatMessage]) -> None:
        super().__init__(model_id="scripted")
        self._messages = messages

    def generate(self, messages: list[ChatMessage], **options: Any) -> ChatMessage:
        return next(self._messages)


def call(name: str, arguments: dict[str, Any]) -> ChatMessage:
    function = ChatMessageToolCallFunction(name=name, arguments=arguments)
    return ChatMessage(
        role=MessageRole.ASSISTANT, tool_calls=[ChatMessageToolCall(function=function, id="call_1", type="function")]
    )


def observation(arguments: dict[str, Any]) -> str:
    """What the model of an agent reads after it has called the tool."""
    model = Scripted(iter([call("bash", arguments), call("final_answer", {"answer": "done"})]))
    agent = ToolCallingAgent(
        tools=[ShellTool(nacre.Tool("workspace"))], model=model, verbosity_level=LogLevel.OFF, max_steps=2
    )
    assert agent.run("go") == "done"
    step = agent.memory.steps[1]
    return str(step.observations if step.error is None else step.error)


def test_the_model_reads_the_text() -> None:
    text = observation({"command": "echo hi; exit 3"})
    assert text.startswith("hi\n")
    assert text.endswith("Command exited with code 3")


def test_the_tool_has_the_schema_of_its_contract() -> None:
    schema = nacre.Tool("workspace").schema()
    tool = ShellTool(nacre.Tool("workspace"))
    assert (tool.name, tool.description, list(tool.inputs)) == (
        "bash",
        schema["description"],
        list(schema["input_schema"]["properties"]),
    )
    needed = [name for name, field in tool.inputs.items() if not field.get("nullable")]
    assert needed == schema["input_schema"]["required"]


def test_the_companions_are_tools_too() -> None:
    assert [ShellTool(nacre.Tool(contract)).name for contract in ("job", "read")] == ["job", "read"]


def test_a_model_that_writes_code_may_leave_out_the_names() -> None:
    code = "<code>\nfinal_answer(bash('echo hi') + bash(command='echo ho'))\n</code>"
    model = Scripted(iter([ChatMessage(role=MessageRole.ASSISTANT, content=code)]))
    agent = CodeAgent(tools=[ShellTool(nacre.Tool("modes"))], model=model, verbosity_level=LogLevel.OFF, max_steps=1)
    assert agent.run("go") == "hi\nho\n"


def test_calls_share_a_shell() -> None:
    code = "<code>\nbash('cd /usr; x=5')\nfinal_answer(bash('pwd; echo $x'))\n</code>"
    model = Scripted(iter([ChatMessage(role=MessageRole.ASSISTANT, content=code)]))
    tools = [ShellTool(nacre.Tool("workspace"))]
    agent = CodeAgent(tools=tools, model=model, verbosity_level=LogLevel.OFF, max_steps=1)
    assert agent.run("go").startswith("/usr\n5\n")


async def test_an_agent_inside_a_running_event_loop() -> None:
    assert observation({"command": "echo hi"}).startswith("hi\n")


async def test_the_example_of_the_guide() -> None:
    model = Scripted(iter([call("bash", {"command": "echo $((6 * 7))"}), call("final_answer", {"answer": "done"})]))
    names = await run_example("smolagents", model=model)
    assert names["answer"] == "done"
    assert names["agent"].memory.steps[1].observations.startswith("42\n")


def test_secrets_stay_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    promises.check_secret(observation(promises.with_a_secret(tmp_path, monkeypatch)))


def test_the_guard_denies() -> None:
    promises.check_denied(observation(promises.DENIED))


def test_a_timeout_leaves_nothing() -> None:
    promises.check_timeout(observation(promises.TIMED))


def test_an_interrupted_agent_leaves_nothing(request: pytest.FixtureRequest) -> None:
    promises.check_interrupt(observation, request)


async def test_an_interrupted_agent_inside_a_running_event_loop_leaves_nothing(request: pytest.FixtureRequest) -> None:
    promises.check_interrupt(observation, request)
