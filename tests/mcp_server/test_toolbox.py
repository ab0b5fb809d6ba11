"""One shell session for each connection; a client may name others, and without a connection there is none."""

from __future__ import annotations

import asyncio
from pathlib import Path

from mcp import Client

from faults.outside import Meeting
from mcp_server.conftest import http_server, is_alive, until
from nacre.mcp.toolbox import SESSION_KEY


def first_line(result: object) -> str:
    return str(result.content[0].text.splitlines()[0])  # type: ignore[attr-defined]


async def check_a_connection_keeps_its_directory_and_variables(client: Client, tmp_path: Path) -> None:
    await client.call_tool("bash", {"command": f"cd {tmp_path}; greeting=hello"})
    assert first_line(await client.call_tool("bash", {"command": "echo $greeting $PWD"})) == f"hello {tmp_path}"


async def test_a_connection_over_http_keeps_its_directory_and_variables(tmp_path: Path) -> None:
    async with http_server() as url, Client(url, mode="legacy") as client:
        await check_a_connection_keeps_its_directory_and_variables(client, tmp_path)


async def test_connections_do_not_see_each_other(tmp_path: Path) -> None:
    async with (
        http_server() as url,
        Client(url, mode="legacy") as one,
        Client(url, mode="legacy") as other,
    ):
        await one.call_tool("bash", {"command": "whose=one"})
        await other.call_tool("bash", {"command": "whose=other"})
        assert first_line(await one.call_tool("bash", {"command": "echo $whose"})) == "one"
        assert first_line(await other.call_tool("bash", {"command": "echo $whose"})) == "other"


async def test_a_request_without_a_connection_has_a_shell_of_its_own_unless_it_names_one() -> None:
    async with http_server() as url, Client(url) as client:
        await client.call_tool("bash", {"command": "kept=yes"})
        assert first_line(await client.call_tool("bash", {"command": "echo [$kept]"})) == "[]"
        named = {SESSION_KEY: "mine"}
        await client.call_tool("bash", {"command": "kept=yes"}, meta=named)
        assert first_line(await client.call_tool("bash", {"command": "echo [$kept]"}, meta=named)) == "[yes]"


async def test_calls_of_distinct_sessions_run_at_once_and_those_of_one_after_another(tmp_path: Path) -> None:
    # Each fails if it finds another one at work.
    alone = f"mkdir {tmp_path}/turn && sleep 0.02 && rmdir {tmp_path}/turn && echo alone"
    with Meeting(tmp_path) as meeting:
        together = {"command": f"{meeting.command}; echo met"}
        async with http_server() as url, Client(url) as client:
            for names in ([f"session {number}" for number in range(50)], [None] * 50):
                metas = [None if name is None else {SESSION_KEY: name} for name in names]
                calls = asyncio.gather(*(client.call_tool("bash", together, meta=meta) for meta in metas))
                # None ends before all have come: one after another, they would wait for ever.
                await until(lambda: meeting.has(50), "all are there")
                meeting.let_go(50)
                assert {first_line(result) for result in await calls} == {"met"}
            turns = [client.call_tool("bash", {"command": alone}, meta={SESSION_KEY: "one"}) for _ in range(50)]
            assert {first_line(result) for result in await asyncio.gather(*turns)} == {"alone"}


async def test_the_shell_of_a_connection_ends_with_it() -> None:
    async with http_server() as url:
        async with Client(url, mode="legacy") as client:
            shell = int(first_line(await client.call_tool("bash", {"command": "echo $$"})))
            assert is_alive(shell)
        await until(lambda: not is_alive(shell), "the shell has ended, while the server goes on")
