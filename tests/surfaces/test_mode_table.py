"""The mode table (docs/statements.md, X244 to X248): each surface by its way in, terminal, live output and errors.

One test a row. A terminal needs a UI (D13); live output and the form of errors are those of the surface.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from feed.viewing import following, text_of, until_ends
from nacre import Tool, Update
from nacre.contracts.contract import Reply
from nacre.planning.terminal_variables import WITHOUT_UI
from nacre.settings import Settings, TerminalSettings
from nacre.tui.interactive_commands import wants_terminal
from nacre.tui.person import PersonSession

PLACE = "[ -t 0 ] && [ -t 1 ] && echo terminal || echo pipes"
LIVE = "echo first; cat {gate}; exit 3"
PATIENCE_SECONDS = 30.0

Message = dict[str, Any]


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """Holds a command until a test writes to it."""
    path = tmp_path / "gate"
    os.mkfifo(path)
    return path


async def _first_line(reply: Reply) -> str:
    return reply.text.partition("\n")[0]


async def test_an_interactive_tool_call(tmp_path: Path, gate: Path) -> None:
    """X244, X83: a terminal with a UI and without the variable; a console or a streamed tail; errors on the result."""
    async with Tool("workspace", cwd=tmp_path, ui=True) as tool:
        assert await _first_line(await tool.call({"command": PLACE, "pty": True})) == "terminal"
        assert await _first_line(await tool.call({"command": PLACE})) == "pipes"
        seen: list[Update | Reply] = []
        async for update in tool.stream({"command": LIVE.format(gate=gate)}):
            seen.append(update)
            if isinstance(update, Update) and update.text == "first\n":
                await asyncio.to_thread(gate.write_text, "")
        assert isinstance(seen[-1], Reply)
        assert (seen[-1].is_error, seen[-1].details["exitCode"]) == (True, 3)
        # A console shows the job whose terminal it is, which is told before any output.
        consoles = [one async for one in tool.stream({"command": "echo drawn", "pty": True}) if isinstance(one, Update)]
        assert consoles[0].job_id is not None
    off = Settings(pty=TerminalSettings(no_pty=True))
    async with Tool("workspace", cwd=tmp_path, ui=True, settings=off) as tool:
        assert await _first_line(await tool.call({"command": PLACE, "pty": True})) == "pipes"


async def test_a_tool_call_in_print_mode(tmp_path: Path, home: Path) -> None:
    """X245, X89: pipes with a notice; the output is in the final text and on the feed; errors as on every surface."""
    async with following(home) as feed:
        shown = await asyncio.to_thread(_call, {"command": f"{PLACE}; exit 3", "pty": True}, tmp_path)
        events = await until_ends(feed)
    assert shown["text"].startswith("pipes\n")
    assert WITHOUT_UI in shown["text"].splitlines()
    assert (shown["is_error"], shown["details"]["exitCode"]) == (True, 3)
    assert text_of(events) == "pipes\n"


def _call(arguments: dict[str, Any], cwd: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "nacre", "call", "workspace", json.dumps(arguments)]
    done = subprocess.run(command, capture_output=True, cwd=cwd, check=True, timeout=PATIENCE_SECONDS)
    return dict(json.loads(done.stdout))


@contextmanager
def _server(verb: str, cwd: Path) -> Iterator[Callable[..., list[dict[str, Any]]]]:
    """A server on pipes: send messages, get what it says up to the answer to the last of them."""
    command = [sys.executable, "-m", "nacre", verb]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=cwd) as server:
        assert server.stdin is not None
        assert server.stdout is not None

        def ask(
            *messages: dict[str, Any], told: Callable[[dict[str, Any]], None] | None = None
        ) -> list[dict[str, Any]]:
            assert server.stdin is not None
            assert server.stdout is not None
            for message in messages:
                server.stdin.write(json.dumps(message) + "\n")
                server.stdin.flush()
            said: list[dict[str, Any]] = []
            while True:
                said.append(json.loads(server.stdout.readline()))
                if said[-1].get("id") == messages[-1]["id"] and said[-1].get("type") != "update":
                    return said
                if told is not None:
                    told(said[-1])

        try:
            yield ask
        finally:
            server.stdin.close()
            server.wait(PATIENCE_SECONDS)


def test_a_tool_call_over_a_wire_of_agents(tmp_path: Path, gate: Path) -> None:
    """X246: no UI, so pipes with a notice; live output and result are structured messages; errors are marked."""

    def call(number: int, **arguments: Any) -> dict[str, Any]:
        params = {"name": "bash", "arguments": arguments, "_meta": {"progressToken": f"p{number}"}}
        return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}

    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    with _server("mcp", tmp_path) as ask:
        ask({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client})
        (answer,) = [one for one in ask(call(2, command=PLACE, pty=True)) if one.get("id") == 2]
        text = answer["result"]["content"][0]["text"]
        assert text.startswith("pipes\n")
        assert WITHOUT_UI in text

        def told(message: dict[str, Any]) -> None:
            if "first" in json.dumps(message.get("params", {})):
                gate.write_text("", encoding="utf-8")

        *events, answer = ask(call(3, command=LIVE.format(gate=gate)), told=told)
        assert any(one.get("method") == "notifications/progress" for one in events)
        assert answer["result"]["isError"] is True
        assert answer["result"]["_meta"]["nacre/details"]["exitCode"] == 3


async def test_a_bang_command_of_a_person(tmp_path: Path, gate: Path) -> None:
    """X247: pipes; its output streams; a failure is shown, not raised.

    What is nothing without a terminal, as an editor, has one: `tui/test_application.py`.
    """
    assert not wants_terminal(PLACE)
    session = PersonSession(cwd=tmp_path)
    seen: list[Any] = []
    async for update in session.run(f"{PLACE}; {LIVE.format(gate=gate)}"):
        seen.append(update)
        if not isinstance(update, Reply) and "first" in update.text:
            await asyncio.to_thread(gate.write_text, "")
    assert [type(one).__name__ for one in seen[:-1]]
    assert seen[-1].text == "pipes\nfirst\n"
    assert seen[-1].details["result"].exit_code == 3
    denied = [one async for one in session.run("rm -rf /")]
    assert denied[-1].refusal is not None
    await session.aclose()


def test_a_bash_command_over_rpc(tmp_path: Path, gate: Path) -> None:
    """X248, X272: no terminal; updates, then the result itself, whose fields the consumer reads."""
    with _server("rpc", tmp_path) as ask:
        answer = ask({"id": 1, "type": "bash", "command": PLACE, "pty": True})[-1]
        assert answer["success"] is True
        assert answer["data"]["text"].startswith("pipes\n")
        assert WITHOUT_UI in answer["data"]["text"]

        def told(message: dict[str, Any]) -> None:
            if message.get("text") == "first\n":
                gate.write_text("", encoding="utf-8")

        *updates, answer = ask({"id": 2, "type": "bash", "command": LIVE.format(gate=gate)}, told=told)
        assert {one["type"] for one in updates} == {"update"}
        assert (answer["success"], answer["data"]["is_error"], answer["data"]["details"]["exitCode"]) == (True, True, 3)


def test_a_terminal_that_cannot_be_made_is_a_pty_error_without_an_exit_code(tmp_path: Path) -> None:
    """X155: the way to new terminals leads to /dev/null in a place of its own."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("needs root and unshare, to hide /dev/ptmx from one process")
    arguments = json.dumps({"command": "echo hi", "pty": True, "async": True})
    script = 'mount --bind /dev/null /dev/ptmx || exit 99; exec "$0" -m nacre call workspace "$1"'
    command = ["unshare", "--mount", "sh", "-c", script, sys.executable, arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=PATIENCE_SECONDS)
    if done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip("nothing can be mounted here")
    answer = json.loads(done.stdout)
    assert answer["text"].startswith("PTY error: ")
    assert answer["is_error"] is True
    assert "exitCode" not in answer["details"]
