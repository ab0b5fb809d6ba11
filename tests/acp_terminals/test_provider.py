"""Terminals for a client: what an agent asks for over the SDK's connection, our engine does."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from acp import RequestError
from acp.schema import EnvVariable

from acp_terminals.conftest import SESSION, Wire, connected
from faults.outside import alive
from nacre.acp import TerminalProvider
from nacre.audit import entries
from nacre.settings import ExecutionSettings, Settings


@contextlib.asynccontextmanager
async def providing(work: Path, **options: Any) -> AsyncIterator[tuple[Wire, TerminalProvider]]:
    provider = TerminalProvider(cwd=work, **options)
    async with connected(provider, work) as wire:
        try:
            yield wire, provider
        finally:
            await provider.aclose()


async def create(wire: Wire, script: str, **options: Any) -> str:
    made = await wire.agent_side.create_terminal(session_id=SESSION, command="bash", args=["-c", script], **options)
    return made.terminal_id


async def written(path: Path) -> list[int]:
    while not path.exists() or not path.read_text(encoding="utf-8").endswith("\n"):
        await asyncio.sleep(0.005)
    return [int(word) for word in path.read_text(encoding="utf-8").split()]


async def test_a_terminal_from_its_creation_to_its_release(work: Path, home: Path) -> None:
    (work / "inner").mkdir()
    async with providing(work) as (wire, _):
        variables = [EnvVariable(name="GREETING", value="it's me")]
        terminal = await create(wire, "pwd; echo $GREETING >&2; exit 3", env=variables, cwd=str(work / "inner"))
        agent = wire.agent_side
        ended = await agent.wait_for_terminal_exit(session_id=SESSION, terminal_id=terminal)
        shown = await agent.terminal_output(session_id=SESSION, terminal_id=terminal)
        await agent.release_terminal(session_id=SESSION, terminal_id=terminal)
        with pytest.raises(RequestError) as error:
            await agent.terminal_output(session_id=SESSION, terminal_id=terminal)
    assert (ended.exit_code, ended.signal) == (3, None)
    assert (shown.output, shown.truncated) == (f"{work}/inner\nit's me\n", False)
    assert shown.exit_status is not None
    assert shown.exit_status.exit_code == 3
    assert error.value.data == {"details": "no terminal 'term_1' in this session; known: none"}
    assert [(entry["contract"], entry["exitCode"]) for entry in entries(home)] == [("terminal", 3)]


async def test_a_program_is_given_its_arguments_as_they_are(work: Path) -> None:
    async with providing(work) as (wire, _):
        arguments = ["%s|", "a b", "$HOME", "'", "*", ""]
        made = await wire.agent_side.create_terminal(session_id=SESSION, command="printf", args=arguments)
        ids = {"session_id": SESSION, "terminal_id": made.terminal_id}
        await wire.agent_side.wait_for_terminal_exit(**ids)
        shown = await wire.agent_side.terminal_output(**ids)
    assert shown.output == "a b|$HOME|'|*||"


async def test_a_running_terminal_shows_its_output_and_dies_by_name(work: Path) -> None:
    async with providing(work) as (wire, _):
        terminal = await create(wire, "echo $$ >pid; echo begun; exec sleep 1000")
        agent = wire.agent_side
        (pid,) = await written(work / "pid")
        while (shown := await agent.terminal_output(session_id=SESSION, terminal_id=terminal)).output != "begun\n":
            await asyncio.sleep(0.005)
        assert shown.exit_status is None
        waiting = asyncio.create_task(agent.wait_for_terminal_exit(session_id=SESSION, terminal_id=terminal))
        await agent.kill_terminal(session_id=SESSION, terminal_id=terminal)
        ended = await waiting
        assert ((ended.exit_code, ended.signal), alive(pid)) == ((None, "SIGTERM"), False)
        shown = await agent.terminal_output(session_id=SESSION, terminal_id=terminal)
        assert shown.output == "begun\n"


async def test_the_newest_output_is_shown_within_the_limit_and_whole_characters(work: Path) -> None:
    async with providing(work) as (wire, _):
        terminal = await create(wire, "printf 'ä%.0s' {1..1000}", output_byte_limit=101)
        await wire.agent_side.wait_for_terminal_exit(session_id=SESSION, terminal_id=terminal)
        shown = await wire.agent_side.terminal_output(session_id=SESSION, terminal_id=terminal)
    assert (shown.output, shown.truncated) == ("ä" * 50, True)


async def test_release_ends_what_runs_and_what_was_left_running(work: Path) -> None:
    async with providing(work) as (wire, _):
        agent = wire.agent_side
        running = await create(wire, "setsid -f bash -c 'echo $$ >>pids; sleep 1000'; echo $$ >>pids; sleep 1000")
        while len(pids := await written(work / "pids")) < 2:
            await asyncio.sleep(0.005)
        await agent.release_terminal(session_id=SESSION, terminal_id=running)
        assert [pid for pid in pids if alive(pid)] == []
        left = await create(wire, "sleep 1000 & echo $! >left")
        await agent.wait_for_terminal_exit(session_id=SESSION, terminal_id=left)
        pids = await written(work / "left")
        assert alive(pids[0])
        await agent.release_terminal(session_id=SESSION, terminal_id=left)
        while alive(pids[0]):
            await asyncio.sleep(0.005)


async def test_closing_releases_everything(work: Path) -> None:
    async with providing(work) as (wire, provider):
        for number in range(3):
            await create(wire, f"echo $$ >pid{number}; sleep 1000")
        pids = [pid for number in range(3) for pid in await written(work / f"pid{number}")]
        await provider.aclose()
        assert [pid for pid in pids if alive(pid)] == []


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (
            {"command": "git", "args": ["push", "--force"]},
            "denied by nacre's guard (rule no_force_push): git push --force is not allowed",
        ),
        ({"command": "true", "cwd": "/nonexistent"}, "working directory '/nonexistent' does not exist"),
        ({"command": "a\0b"}, "field 'command' holds a NUL"),
        ({"command": "true", "env": [EnvVariable(name="A=B", value="")]}, "field 'env'"),
    ],
)
async def test_what_cannot_be_started_is_an_error_that_says_why(
    work: Path, options: dict[str, Any], named: str
) -> None:
    async with providing(work) as (wire, _):
        with pytest.raises(RequestError) as error:
            await wire.agent_side.create_terminal(session_id=SESSION, **options)
    assert named in error.value.data["details"]


async def test_a_terminal_belongs_to_its_session(work: Path) -> None:
    async with providing(work) as (wire, _):
        terminal = await create(wire, "sleep 1000")
        with pytest.raises(RequestError) as error:
            await wire.agent_side.kill_terminal(session_id="another", terminal_id=terminal)
        assert error.value.data == {"details": f"no terminal {terminal!r} in this session; known: none"}


async def test_our_tool_in_our_terminals(work: Path) -> None:
    async with providing(work) as (wire, provider):
        reply = await wire.tool().call({"command": "echo both; kill -9 $$"})
        assert reply.text.startswith("both\n")
        assert (reply.details["exitCode"], reply.details["terminalId"]) == (137, "term_1")
        timed_out = await wire.tool().call({"command": "echo $$ >pid; trap '' TERM; sleep 1000", "timeout": 3})
        assert timed_out.details["timedOut"] is True
        assert provider._terminals == {}
        (pid,) = await written(work / "pid")
        assert not alive(pid)


async def test_a_connection_that_ends_during_a_kill_is_not_held_up(work: Path) -> None:
    provider = TerminalProvider(cwd=work, settings=Settings(execution=ExecutionSettings(grace_seconds=2.0)))
    async with connected(provider, work) as wire:
        terminal = await create(wire, "trap '' TERM; echo $$ >pid; while :; do sleep 1000; done")
        (pid,) = await written(work / "pid")
        killing = asyncio.create_task(wire.agent_side.kill_terminal(session_id=SESSION, terminal_id=terminal))
        await asyncio.wait([killing], timeout=0.1)
    with pytest.raises(ConnectionError):
        await killing
    await provider.aclose()
    assert not alive(pid)


async def test_the_log_accuses_no_other_program_of_what_a_command_left_running(work: Path, home: Path) -> None:
    async with providing(work) as (wire, _):
        ids = {"session_id": SESSION, "terminal_id": await create(wire, "sleep 1000 & echo $! >pid")}
        (pid,) = await written(work / "pid")
        await wire.agent_side.wait_for_terminal_exit(**ids)
        await wire.agent_side.release_terminal(**ids)
        assert not alive(pid)
    (entry,) = entries(home)
    assert (entry["outcome"], entry["exitCode"], entry.get("notices")) == ("exited", 0, None)
