"""What agents in other programs do is on the screen: an MCP server and a library host at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.tui.pilots import console, shows, until

import nacre

HOST = """
import asyncio, sys
import nacre

async def main():
    async with nacre.Tool("workspace") as tool:
        for line in sys.stdin:
            print((await tool.call({"command": line.strip()})).text.splitlines()[0], flush=True)

asyncio.run(main())
"""


@contextmanager
def program(*argv: str, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    running = subprocess.Popen(
        [sys.executable, *argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=cwd
    )
    assert running.stdin is not None
    assert running.stdout is not None
    with running.stdin, running.stdout:
        yield running
        running.stdin.close()
        running.wait()


def tell(running: subprocess.Popen[str], line: str) -> None:
    assert running.stdin is not None
    running.stdin.write(f"{line}\n")
    running.stdin.flush()


def mcp(running: subprocess.Popen[str], number: int, method: str, parameters: dict[str, Any]) -> None:
    tell(running, json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}))


def _run_over_mcp(running: subprocess.Popen[str], number: int, command: str) -> None:
    mcp(running, number, "tools/call", {"name": "bash", "arguments": {"command": command}})


async def test_an_mcp_server_and_a_library_host_are_shown_together(tmp_path: Path) -> None:
    """The time from the byte to the screen is recorded for the report, not asserted."""
    with program("-m", "nacre", "mcp", cwd=tmp_path) as server, program("-c", HOST, cwd=tmp_path) as host:
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        mcp(server, 1, "initialize", hello)
        assert server.stdout is not None
        server.stdout.readline()
        tell(server, json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        async with console(size=(100, 40)) as (app, pilot):
            _run_over_mcp(server, 2, "echo from the server")
            tell(host, "echo from the host")
            screen = await shows(app, pilot, "✓ $ echo from the server", "✓ $ echo from the host")
            assert " · mcp · " in screen
            assert " · library · " in screen
            seen: dict[str, float] = {}
            gates = {name: tmp_path / f"{name}.gate" for name in ("server", "host")}
            for path in gates.values():
                os.mkfifo(path)
            _run_over_mcp(server, 3, f"cat {gates['server']}; sleep 30")
            tell(host, f"cat {gates['host']}; sleep 30")
            await shows(app, pilot, f"● $ cat {gates['server']}", f"● $ cat {gates['host']}")
            for name, path in gates.items():
                text = f"written by the {name}"
                wrote = time.monotonic()
                path.write_text(f"{text}\n", encoding="utf-8")
                await until(pilot, lambda text=text: any(text in card.tail.text for card in app.transcript.cards))  # type: ignore[misc]
                await shows(app, pilot, text)
                seen[name] = time.monotonic() - wrote
            print({name: f"{1000 * took:.0f} ms" for name, took in seen.items()})
            app.transcript.focus()
            await pilot.press("s", "k", "s")
            await shows(app, pilot, f"■ $ cat {gates['server']}", f"■ $ cat {gates['host']}")


def test_a_console_that_is_killed_disturbs_no_agent(tmp_path: Path, home: Path) -> None:
    with program("-c", HOST, cwd=tmp_path) as host:
        from terminals.tmux import NACRE, Tmux

        with Tmux(tmp_path) as tmux:
            pane = tmux.start(f"exec {NACRE} tui", columns=100, rows=30)
            pane.wait_for("F1 help")
            gate = tmp_path / "gate"
            os.mkfifo(gate)
            tell(host, f"cat {gate}")
            pane.wait_for("● $ cat")
            os.kill(int(pane.fact("pane_pid")), signal.SIGKILL)
            gate.write_text("after the kill\n", encoding="utf-8")
            assert host.stdout is not None
            assert host.stdout.readline() == "after the kill\n"
            tell(host, "echo and the next")
            assert host.stdout.readline() == "and the next\n"
    # The socket that the killed viewer left is gone with the next call.
    assert not (home / "feed").exists()


async def test_a_call_that_is_still_being_written_shows_its_command_and_variables(tmp_path: Path) -> None:
    """D37: partial JSON of a call, then the call itself, on one card."""
    async with console() as (app, pilot), nacre.Tool("workspace", cwd=tmp_path) as tool:
        tool.preview('{"env": {"CI": "1"}, "command": "make te')
        await shows(app, pilot, '◌ $ CI="1" make te', "being written")
        tool.preview('{"env": {"CI": "1"}, "command": "make test || true"')
        await shows(app, pilot, '◌ $ CI="1" make test || true')
        await tool.call({"env": {"CI": "1"}, "command": "make test || true"})
        await shows(app, pilot, '✓ $ CI="1" make test || true', "exit 0")
        assert len(app.transcript.cards) == 1
