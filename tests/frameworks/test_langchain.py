"""LangChain: an agent with a scripted model, async and sync."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, Self

import promises
import pytest
from guide import run_example
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage

import nacre
from nacre.adapters.langchain import langchain_tool


class Scripted(GenericFakeChatModel):
    def bind_tools(self, tools: Any, **options: Any) -> Self:
        return self


def calling(*turns: list[dict[str, Any]]) -> Scripted:
    """A model that makes these calls, several at once in each turn, and is content."""
    numbers = itertools.count(1)
    messages = [
        AIMessage("", tool_calls=[{"name": "bash", "args": call, "id": f"call_{next(numbers)}"} for call in calls])
        for calls in turns
    ]
    return Scripted(messages=iter([*messages, AIMessage("done")]))


def agent(*turns: list[dict[str, Any]]) -> Any:
    return create_agent(calling(*turns), [langchain_tool(nacre.Tool("workspace"))])


def messages_of(state: dict[str, Any]) -> list[ToolMessage]:
    return [message for message in state["messages"] if isinstance(message, ToolMessage)]


def message_of(state: dict[str, Any]) -> ToolMessage:
    (message,) = messages_of(state)
    return message


async def ask(arguments: dict[str, Any]) -> str:
    return str(message_of(await agent([arguments]).ainvoke({"messages": "go"})).content)


def ask_sync(arguments: dict[str, Any]) -> str:
    return str(message_of(agent([arguments]).invoke({"messages": "go"})).content)


async def test_the_model_reads_the_text_and_the_program_the_reply() -> None:
    message = message_of(await agent([{"command": "echo hi; exit 3"}]).ainvoke({"messages": "go"}))
    reply = message.artifact
    assert (message.content, message.status, message.tool_call_id) == (reply.text, "error", "call_1")
    assert reply.text.startswith("hi\n")
    assert reply.details["exitCode"] == 3


async def test_a_success_is_no_error() -> None:
    message = message_of(await agent([{"command": "echo hi"}]).ainvoke({"messages": "go"}))
    assert (message.status, message.artifact.is_error) == ("success", False)


def test_the_tool_has_the_schema_of_its_contract() -> None:
    schema = nacre.Tool("workspace").schema()
    tool = langchain_tool(nacre.Tool("workspace"))
    assert (tool.name, tool.description, tool.args_schema) == ("bash", schema["description"], schema["input_schema"])


async def test_what_the_model_got_wrong_is_said_by_the_contract() -> None:
    assert "unknown field 'comand'" in await ask({"comand": "echo hi"})


def test_an_agent_without_an_event_loop() -> None:
    assert ask_sync({"command": "echo hi"}).startswith("hi\n")


async def test_a_sync_agent_inside_a_running_event_loop() -> None:
    assert ask_sync({"command": "echo hi"}).startswith("hi\n")


def test_calls_share_a_shell_and_those_made_at_once_run_one_after_another(tmp_path: Path) -> None:
    calls = [{"command": f"x=$((x + {number})); echo $x >>{tmp_path}/sums"} for number in (1, 2, 4, 8)]
    agent([{"command": "x=16"}], calls).invoke({"messages": "go"})
    sums = [int(line) for line in (tmp_path / "sums").read_text(encoding="utf-8").split()]
    assert (len(sums), sums[-1]) == (4, 31)


async def test_a_direct_call_gives_the_text() -> None:
    tool = langchain_tool(nacre.Tool("modes"))
    assert await tool.ainvoke({"command": "echo hi"}) == tool.invoke({"command": "echo hi"}) == "hi\n"


async def test_the_example_of_the_guide() -> None:
    names = await run_example("LangChain", model=calling([{"command": "echo $((6 * 7))"}]))
    assert message_of(names["state"]).artifact.text.startswith("42\n")


async def test_secrets_stay_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    promises.check_secret(await ask(promises.with_a_secret(tmp_path, monkeypatch)))


async def test_the_guard_denies() -> None:
    promises.check_denied(await ask(promises.DENIED))


async def test_a_timeout_leaves_nothing() -> None:
    promises.check_timeout(await ask(promises.TIMED))


async def test_a_cancelled_agent_leaves_nothing(tmp_path: Path) -> None:
    await promises.check_cancel(ask, tmp_path)
