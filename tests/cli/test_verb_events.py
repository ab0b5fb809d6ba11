"""`nacre events`: the feed as JSON lines, each event once for each follower, whoever else follows or leaves."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import nacre
from nacre.feed import directory_of
from nacre.tool import Tool

PATIENCE_SECONDS = 30.0
COMMAND = [sys.executable, "-m", "nacre", "events"]

Event = dict[str, Any]


def _viewers(home: Path) -> int:
    feed = Path(directory_of(str(home)))
    return len([one for one in feed.iterdir() if not one.name.startswith(".")]) if feed.exists() else 0


@contextmanager
def followers(home: Path, count: int) -> Iterator[list[subprocess.Popen[str]]]:
    """So many of `nacre events --follow`, each announced."""
    running: list[subprocess.Popen[str]] = []
    before = _viewers(home)
    try:
        for _ in range(count):
            running.append(subprocess.Popen([*COMMAND, "--follow"], stdout=subprocess.PIPE, text=True))
        end = time.monotonic() + PATIENCE_SECONDS
        while _viewers(home) < before + count:
            assert time.monotonic() < end, "a follower did not announce itself"
            time.sleep(0.02)
        yield running
    finally:
        for one in running:
            one.terminate()
            one.wait(PATIENCE_SECONDS)
            assert one.stdout is not None
            one.stdout.close()


def read_ends(follower: subprocess.Popen[str], count: int) -> list[Event]:
    """The events up to the end of so many calls."""
    assert follower.stdout is not None
    events: list[Event] = []
    while sum(event["event"] == "end" for event in events) < count:
        events.append(json.loads(follower.stdout.readline()))
    return events


def _story(events: list[Event], call: str) -> list[tuple[str, Any]]:
    """What is told of a call; output is joined, because it comes in pieces of any size."""
    own = [event for event in events if event["call"] == call]
    text = "".join(event["text"] for event in own if event["event"] == "output")
    return [(event["event"], None) for event in own if event["event"] != "output"] + [("output", text)]


async def test_every_follower_is_told_every_event_once(home: Path, tmp_path: Path) -> None:
    with followers(home, 3) as three:
        async with Tool("workspace", cwd=tmp_path) as tool:
            await asyncio.gather(*(nacre.run(f"seq {number} 40") for number in range(1, 6)))
            reply = await tool.call({"command": "seq 5; sleep 0.3; seq 6 9", "async": True})
            await Tool("job").call({"poll": [reply.details["async"]["jobId"]], "wait": 30})
        seen = [await asyncio.to_thread(read_ends, one, 6) for one in three]
    for events in seen:
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        assert {event["v"] for event in events} == {1}
        calls = {event["call"] for event in events}
        assert len(calls) == 6
        for call in calls:
            kinds = [kind for kind, _ in _story(events, call)]
            assert kinds in (["start", "end", "output"], ["start", "job", "end", "output"])
    stories = [sorted(map(str, (_story(events, call) for call in {one["call"] for one in events}))) for events in seen]
    assert stories[0] == stories[1] == stories[2]
    assert str([("start", None), ("job", None), ("end", None), ("output", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")]) in stories[0]


async def test_a_follower_that_comes_late_begins_with_what_runs_and_is_told_the_rest_once(
    home: Path, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    call = asyncio.create_task(nacre.run(f"echo before; cat {gate}; echo after"))
    with followers(home, 1) as (late,):
        assert late.stdout is not None
        first: list[Event] = []
        while "before" not in "".join(event.get("text", "") for event in first):
            first.append(json.loads(await asyncio.to_thread(late.stdout.readline)))
        await asyncio.to_thread(gate.write_text, "")
        await call
        events = first + await asyncio.to_thread(read_ends, late, 1)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert _story(events, events[0]["call"]) == [("start", None), ("end", None), ("output", "before\nafter\n")]


async def test_killed_followers_disturb_neither_the_calls_nor_each_other(home: Path, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with followers(home, 3) as (first, second, third):
        call = asyncio.create_task(nacre.run(f"echo before; cat {gate}; seq 20000 | tail -c 19"))
        assert first.stdout is not None
        await asyncio.to_thread(first.stdout.readline)
        first.kill()
        # The reader of the second is gone, as that of `nacre events --follow | head`.
        assert second.stdout is not None
        second.stdout.close()
        await asyncio.to_thread(gate.write_text, "")
        result = await call
        events = await asyncio.to_thread(read_ends, third, 1)
        await nacre.run("echo next")
        more = await asyncio.to_thread(read_ends, third, 1)
    assert result.text == "before\n\n19998\n19999\n20000\n"
    assert "".join(event.get("text", "") for event in events) == result.text
    assert [event["event"] for event in more] == ["start", "output", "end"]
    assert _viewers(home) == 0


def test_without_follow_it_ends_after_what_runs(home: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "import nacre; nacre.run_sync('echo here; sleep 30')"]) as host:
        try:
            said = ""
            end = time.monotonic() + PATIENCE_SECONDS
            while "here" not in said:
                assert time.monotonic() < end
                said = subprocess.run(COMMAND, capture_output=True, text=True, check=True).stdout
        finally:
            host.kill()
    assert [json.loads(line)["event"] for line in said.splitlines()] == ["start", "output"]


@pytest.mark.parametrize("verb", ["call", "mcp", "rpc"])
def test_every_surface_is_told(home: Path, tmp_path: Path, verb: str) -> None:
    request = {
        "call": None,
        "rpc": {"id": 1, "type": "bash", "command": "echo hi"},
        "mcp": {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "bash", "arguments": {"command": "echo hi"}},
        },
    }[verb]
    arguments = ["call", "workspace", '{"command": "echo hi"}'] if request is None else [verb]
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    said = [json.dumps(one) for one in ([hello] if verb == "mcp" else []) + ([request] if request else [])]
    with followers(home, 1) as (follower,):
        command = [sys.executable, "-m", "nacre", *arguments]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, cwd=tmp_path
        ) as one:
            assert one.stdin is not None
            one.stdin.write("".join(f"{line}\n" for line in said))
            one.stdin.flush()
            events = read_ends(follower, 1)
            one.stdin.close()
    _is_told_once(events, "cli" if verb == "call" else verb)


def _is_told_once(events: list[Event], surface: str) -> None:
    assert {event["surface"] for event in events} == {surface}
    (call,) = {event["call"] for event in events}
    assert _story(events, call) == [("start", None), ("end", None), ("output", "hi\n")]


async def test_a_terminal_that_an_editor_gives_an_agent_is_told(home: Path, tmp_path: Path) -> None:
    pytest.importorskip("acp", reason="needs the extra acp")
    from acp_terminals.conftest import SESSION, connected
    from nacre.acp import TerminalProvider

    with followers(home, 1) as (follower,):
        provider = TerminalProvider(cwd=tmp_path)
        async with connected(provider, tmp_path) as wire:
            made = await wire.agent_side.create_terminal(session_id=SESSION, command="echo", args=["hi"])
            ids = {"session_id": SESSION, "terminal_id": made.terminal_id}
            await wire.agent_side.wait_for_terminal_exit(**ids)
            await wire.agent_side.release_terminal(**ids)
        events = await asyncio.to_thread(read_ends, follower, 1)
    _is_told_once(events, "acp")


async def test_an_agents_command_in_the_terminal_of_an_editor_is_told(home: Path, tmp_path: Path) -> None:
    pytest.importorskip("acp", reason="needs the extra acp")
    from acp_terminals.conftest import connected
    from acp_terminals.editor import Editor

    editor = Editor()
    with followers(home, 1) as (follower,):
        async with connected(editor, tmp_path) as wire, wire.tool() as tool:
            assert not (await tool.call({"command": "echo hi"})).is_error
        events = await asyncio.to_thread(read_ends, follower, 1)
    editor.close()
    assert editor.created == 1
    _is_told_once(events, "acp")
