"""`nacre watch` beside other programs: a server and a library host run commands, and viewers come, leave and die."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nacre.warden import children
from terminals.tmux import NACRE, Pane, Tmux

HOST = """
import asyncio, sys
import nacre
result = asyncio.run(nacre.run(sys.argv[1]))
print(result.exit_code, result.text, end="", flush=True)
"""


def command(name: str, gate: Path) -> str:
    # The words of the output are not those of the command, which is shown too.
    first, second = f"{gate}-1", f"{gate}-2"
    for one in (first, second):
        os.mkfifo(one)
    return f"n={name}; echo $n begins; read line < {first}; echo $n goes on; read line < {second}; echo $n ends"


def open_gates(gates: list[Path], number: int) -> None:
    for gate in gates:
        Path(f"{gate}-{number}").write_text("go\n", encoding="utf-8")


@contextmanager
def library_host(script: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen([sys.executable, "-c", HOST, script], stdout=subprocess.PIPE, text=True) as host:
        try:
            yield host
        finally:
            host.terminate()


@contextmanager
def mcp_server(script: str, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    argv = [sys.executable, "-m", "nacre", "mcp"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=cwd) as server:
        assert server.stdin is not None
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        for message in (
            {"id": 1, "method": "initialize", "params": hello},
            {"id": 2, "method": "tools/call", "params": {"name": "bash", "arguments": {"command": script}}},
        ):
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            server.stdin.flush()
        try:
            yield server
        finally:
            server.stdin.close()


def viewer(pane: Pane) -> int:
    below = children.descendants(int(pane.fact("pane_pid")))
    (found,) = [pid for pid in below if "watch" in children.command_line(pid)]
    return found


def test_both_are_shown_and_killed_viewers_disturb_neither(tmux: Tmux, tmp_path: Path) -> None:
    gates = [tmp_path / "host-gate", tmp_path / "server-gate"]
    panes = [tmux.start(f"{NACRE} watch --density all", columns=100, rows=40) for _ in range(2)]
    for pane in panes:
        pane.wait_for("0 running")
    with library_host(command("host", gates[0])) as host, mcp_server(command("server", gates[1]), tmp_path) as server:
        for pane in panes:
            pane.wait_for(lambda screen: "host begins" in screen and "server begins" in screen)
            assert "2 running" in pane.wait_for("2 running")
        os.kill(viewer(panes[0]), 9)
        open_gates(gates, 1)
        panes[1].wait_for(lambda screen: "host goes on" in screen and "server goes on" in screen)
        panes[1].send("q")
        assert panes[1].exit_code() == 0
        late = tmux.start(f"{NACRE} watch --density all", columns=100, rows=40)
        late.wait_for(lambda screen: "host goes on" in screen and "server goes on" in screen)
        open_gates(gates, 2)
        late.wait_for(lambda screen: "0 running" in screen and "host ends" in screen and "server ends" in screen)
        assert host.communicate()[0] == "0 host begins\nhost goes on\nhost ends\n"
        assert server.stdout is not None
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        assert answers[1]["result"]["content"][0]["text"].startswith("server begins\nserver goes on\nserver ends\n")
    screen = late.screen()
    assert "(library" in screen
    assert "(mcp" in screen
    late.send("q")
    assert late.exit_code() == 0


@pytest.mark.parts
def test_a_flood_in_a_card_leaves_keys_answered_and_memory_bounded(tmux: Tmux) -> None:
    pane = tmux.start(f"{NACRE} watch --density all")
    pane.wait_for("0 running")
    with library_host("timeout 4 yes"):
        pane.wait_for("1 running · all")
        sizes = []
        for density in ("count", "folded", "all", "count", "folded", "all"):
            pane.send("d")
            pane.wait_for(f"1 running · {density}")
            time.sleep(0.3)
            sizes.append(_resident(viewer(pane)))
        pane.wait_for("0 running")
    assert max(sizes) - sizes[0] < 8_000_000
    pane.send("q")
    assert pane.exit_code() == 0


def _resident(pid: int) -> int:
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
