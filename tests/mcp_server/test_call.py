"""Calls over every wire: what is offered, what comes back, what is told on the way, and what a cancel leaves.

Over HTTP each is a test of its own; a server on pipes takes a second to start, and is asked everything in turn.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from mcp import Client, MCPError

from mcp_server.conftest import ERAS, Connect, is_alive, over_stdio, until
from mcp_server.test_resources import check_the_pages_of_a_linked_output_are_all_of_it
from mcp_server.test_toolbox import check_a_connection_keeps_its_directory_and_variables

Check = Callable[[Client, Path], Awaitable[None]]


async def check_the_tools_are_offered_with_titles_hints_and_schemas(client: Client, tmp_path: Path) -> None:
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(tools) == ["bash", "job", "read", "changes"]
    assert [tool.title for tool in tools.values()] == [
        "Run a shell command", "Background jobs", "Read kept output", "Commit or discard a try"
    ]  # fmt: skip
    hints = {name: tool.annotations.model_dump(exclude={"title"}) for name, tool in tools.items() if tool.annotations}
    assert hints == {
        "bash": {
            "read_only_hint": False, "destructive_hint": True, "idempotent_hint": False, "open_world_hint": True
        },
        "job": {"read_only_hint": False, "destructive_hint": True, "idempotent_hint": False, "open_world_hint": False},
        "read": {"read_only_hint": True, "destructive_hint": False, "idempotent_hint": True, "open_world_hint": False},
        "changes": {
            "read_only_hint": False, "destructive_hint": True, "idempotent_hint": True, "open_world_hint": False
        },
    }  # fmt: skip
    assert tools["bash"].input_schema["required"] == ["command"]
    # Clients that know an output schema show their model the object instead of the text.
    assert all(tool.output_schema is None for tool in tools.values())


async def check_a_result_is_text_with_the_facts_in_meta(client: Client, tmp_path: Path) -> None:
    done = await client.call_tool("bash", {"command": "echo out; echo err >&2; exit 3"})
    wrong = await client.call_tool("bash", {"comand": "echo hi"})
    with pytest.raises(MCPError, match="there is no tool 'rm'; there are bash, job, read, changes"):
        await client.call_tool("rm", {})
    text = done.content[0].text
    assert text.startswith("out\nerr\n")
    assert text.endswith("Command exited with code 3")
    assert done.is_error
    assert done.structured_content is None
    assert done.meta["nacre/details"]["exitCode"] == 3
    assert wrong.is_error
    assert wrong.content[0].text.startswith("unknown field 'comand' (value \"echo hi\")")


async def check_progress_carries_the_live_tail(client: Client, tmp_path: Path) -> None:
    go = tmp_path / "go"
    told: list[tuple[float, str | None]] = []

    async def progress(seconds: float, total: float | None, message: str | None) -> None:
        told.append((seconds, message))
        go.touch()

    # It goes on only once a client has been told of its first line.
    command = f"echo first; until [ -e {go} ]; do sleep 0.05; done; echo last"
    done = await client.call_tool("bash", {"command": command}, progress_callback=progress)
    assert told[0][1] == "first\n"
    assert [seconds for seconds, _ in told] == sorted({seconds for seconds, _ in told})
    assert done.content[0].text.startswith("first\nlast\n")


async def check_a_cancelled_call_leaves_no_process(client: Client, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    # One that detached itself, and the shell that waits for another.
    command = f"setsid bash -c 'echo $$ > {pids}.new; exec sleep 600' & until [ -s {pids}.new ]; do sleep 0.01; done; "
    command += f"echo $$ >> {pids}.new; mv {pids}.new {pids}; sleep 600"
    call = asyncio.create_task(client.call_tool("bash", {"command": command}))
    await until(pids.exists, "the command has started")
    started = [int(pid) for pid in pids.read_text(encoding="utf-8").split()]
    assert all(is_alive(pid) for pid in started)
    call.cancel()
    await asyncio.wait([call])
    await until(lambda: not any(is_alive(pid) for pid in started), "everything of it has ended")
    # The connection is as good as before.
    assert (await client.call_tool("bash", {"command": "echo on"})).content[0].text.startswith("on\n")


async def check_fifty_calls_at_once_are_each_answered(client: Client, tmp_path: Path) -> None:
    calls = [client.call_tool("bash", {"command": f"echo number {n}; exit {n % 2}"}) for n in range(50)]
    results = await asyncio.gather(*calls)
    assert [result.content[0].text.splitlines()[0] for result in results] == [f"number {n}" for n in range(50)]
    assert [result.is_error for result in results] == [bool(n % 2) for n in range(50)]


async def test_another_contract_is_served_in_its_own_shape(connect_http: Connect) -> None:
    async with connect_http("--contract", "basic") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        done = await client.call_tool("bash", {"command": "echo hi; exit 3"})
    assert names == ["bash"]
    assert json.loads(done.content[0].text) == {"stdout": "hi\n", "stderr": "", "exitCode": 3}
    assert not done.is_error


@pytest.mark.parametrize("era", ERAS)
async def test_a_program_gets_objects_when_it_asks_for_them(era: str) -> None:
    async with over_stdio(era, "--structured") as client:
        tools = (await client.list_tools()).tools
        done = await client.call_tool("bash", {"command": "echo hi; exit 3"})
    assert all(tool.output_schema and tool.output_schema["type"] == "object" for tool in tools)
    assert done.structured_content["text"] == done.content[0].text
    assert done.structured_content["details"]["exitCode"] == 3


CHECKS = [
    check_the_tools_are_offered_with_titles_hints_and_schemas,
    check_a_result_is_text_with_the_facts_in_meta,
    check_progress_carries_the_live_tail,
    check_a_cancelled_call_leaves_no_process,
    check_fifty_calls_at_once_are_each_answered,
    check_the_pages_of_a_linked_output_are_all_of_it,
]


@pytest.mark.parametrize("check", CHECKS)
async def test_over_http(connect_http: Connect, check: Check, tmp_path: Path) -> None:
    async with connect_http() as client:
        await check(client, tmp_path)


@pytest.mark.parametrize(("era", "revision"), ERAS.items())
async def test_over_stdio(era: str, revision: str, tmp_path: Path) -> None:
    async with over_stdio(era) as client:
        assert client.protocol_version == revision
        for check in (*CHECKS, check_a_connection_keeps_its_directory_and_variables):
            await check(client, tmp_path)
