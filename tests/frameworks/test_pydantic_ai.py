"""pydantic-ai: an agent with a scripted model, and the lifetime of the toolset."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promises
import pytest
from guide import run_example
from pydantic_ai import Agent, ModelMessage, ModelResponse, RunContext, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import nacre
from nacre.adapters.pydantic_ai import ShellToolset


def calling(*calls: dict[str, Any]) -> FunctionModel:
    """A model that makes these calls one after another and is content."""

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        made = sum(isinstance(message, ModelResponse) for message in messages)
        return ModelResponse([ToolCallPart("bash", calls[made]) if made < len(calls) else TextPart("done")])

    return FunctionModel(respond)


def returns_of(result: Any) -> list[ToolReturnPart]:
    return [part for message in result.all_messages() for part in message.parts if isinstance(part, ToolReturnPart)]


async def ask(arguments: dict[str, Any]) -> str:
    agent = Agent(calling(arguments), toolsets=[ShellToolset(nacre.Tool("workspace"))])
    (part,) = returns_of(await agent.run("go"))
    return part.model_response_str()


async def test_the_model_reads_the_text_and_the_program_the_reply() -> None:
    agent = Agent(calling({"command": "echo hi; exit 3"}), toolsets=[ShellToolset(nacre.Tool("workspace"))])
    (part,) = returns_of(await agent.run("go"))
    reply = part.metadata
    assert part.model_response_str() == reply.text
    assert (reply.is_error, reply.details["exitCode"]) == (True, 3)


async def test_the_model_is_given_the_schemas_of_the_contracts() -> None:
    tools = [nacre.Tool(contract) for contract in ("workspace", "job", "read")]
    seen: list[Any] = []

    def look(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.extend(info.function_tools)
        return ModelResponse([TextPart("done")])

    await Agent(FunctionModel(look), toolsets=[ShellToolset(*tools)]).run("go")
    given = [(tool.name, tool.description, tool.parameters_json_schema) for tool in seen]
    schemas = [tool.schema() for tool in tools]
    assert given == [(schema["name"], schema["description"], schema["input_schema"]) for schema in schemas]


async def test_what_the_model_got_wrong_is_said_by_the_contract() -> None:
    assert "unknown field 'comand'" in await ask({"comand": "echo hi"})


@pytest.fixture
def own_loop() -> Iterator[None]:
    """The loop that `run_sync` uses, which it would not close."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@pytest.mark.usefixtures("own_loop")
def test_an_agent_that_is_run_without_awaiting_it() -> None:
    agent = Agent(calling({"command": "echo hi"}), toolsets=[ShellToolset(nacre.Tool("workspace"))])
    (part,) = returns_of(agent.run_sync("go"))
    assert part.model_response_str().startswith("hi\n")


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(nacre.InvalidRequestError, match="different names, got modes: bash, basic: bash"):
        ShellToolset(nacre.Tool("modes"), nacre.Tool("basic"))


class Watched(nacre.Tool):
    """A tool that counts how often it was closed."""

    closed = 0

    async def aclose(self) -> None:
        self.closed += 1
        await super().aclose()


async def test_a_toolset_is_closed_when_the_last_of_its_runs_is_over(tmp_path: Path) -> None:
    tool = Watched("modes")
    toolset = ShellToolset(tool)
    async with toolset:
        agent = Agent(calling({"command": "echo hi"}), toolsets=[toolset])
        await asyncio.gather(agent.run("go"), agent.run("go"))
        assert tool.closed == 0
    assert tool.closed == 1


async def test_calls_of_a_run_share_a_shell_that_ends_with_it() -> None:
    look = {"command": "echo x is $x in $PWD; echo $$"}
    toolset = ShellToolset(nacre.Tool("workspace"))
    agent = Agent(calling({"command": "cd /usr; x=5"}, look), toolsets=[toolset])
    shown = [returns_of(await agent.run("go"))[-1].model_response_str() for _ in range(2)]
    assert [text.splitlines()[0] for text in shown] == ["x is 5 in /usr"] * 2
    agent = Agent(calling(look), toolsets=[toolset])
    (part,) = returns_of(await agent.run("go"))
    assert part.model_response_str().splitlines()[0] == f"x is in {os.getcwd()}"


async def test_each_run_may_have_a_shell_of_its_own() -> None:
    agent = Agent(calling({"command": "echo x is $x; x=5"}, {"command": "echo x is $x"}))

    @agent.toolset(per_run_step=False)
    def shell(ctx: RunContext[None]) -> ShellToolset:
        return ShellToolset(nacre.Tool("workspace"))

    results = await asyncio.gather(agent.run("go"), agent.run("go"))
    lines = [[part.model_response_str().splitlines()[0] for part in returns_of(result)] for result in results]
    assert lines == [["x is", "x is 5"]] * 2


async def test_the_example_of_the_guide() -> None:
    names = await run_example("pydantic-ai", model=calling({"command": "echo $((6 * 7))"}))
    (part,) = returns_of(names["result"])
    assert part.metadata.text.startswith("42\n")


async def test_secrets_stay_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    promises.check_secret(await ask(promises.with_a_secret(tmp_path, monkeypatch)))


async def test_the_guard_denies() -> None:
    promises.check_denied(await ask(promises.DENIED))


async def test_a_timeout_leaves_nothing() -> None:
    promises.check_timeout(await ask(promises.TIMED))


async def test_a_cancelled_run_leaves_nothing(tmp_path: Path) -> None:
    await promises.check_cancel(ask, tmp_path)
