"""The agent of the guide, as a process of its own, under an editor: the SDK on both ends of real pipes."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import acp
from acp.schema import ClientCapabilities

from acp_terminals.editor import Editor
from faults.outside import alive, eventually
from nacre.acp import TerminalProvider

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "acp.md"
PATIENCE_SECONDS = 30.0


class Watching:
    """What an editor is told."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.updates: list[Any] = []

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)

    @property
    def message(self) -> str:
        return "".join(one.content.text for one in self.updates if one.session_update == "agent_message_chunk")

    @property
    def cards(self) -> list[str]:
        changes = [one for one in self.updates if one.session_update == "tool_call_update"]
        return [content.terminal_id for change in changes for content in change.content or []]


class PlainEditor(Watching, Editor):
    pass


class NacreEditor(Watching, TerminalProvider):
    pass


def agent_script(tmp_path: Path) -> Path:
    example, _ = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    path = tmp_path / "agent.py"
    path.write_text(example, encoding="utf-8")
    return path


async def ask(editor: Any, tmp_path: Path, command: str, *, terminal: bool = True) -> None:
    work = tmp_path / "work"
    work.mkdir()
    spawned = acp.spawn_agent_process(
        editor,
        sys.executable,
        str(agent_script(tmp_path)),
        env=dict(os.environ),
        transport_kwargs={"stderr": None, "limit": 1 << 24, "shutdown_timeout": PATIENCE_SECONDS},
    )
    async with asyncio.timeout(PATIENCE_SECONDS), spawned as (agent, _):
        await agent.initialize(protocol_version=1, client_capabilities=ClientCapabilities(terminal=terminal))
        session = await agent.new_session(cwd=str(work), mcp_servers=[])
        await agent.prompt(session_id=session.session_id, prompt=[acp.text_block(command)])


async def test_the_agent_runs_in_the_editor_s_terminal(tmp_path: Path) -> None:
    editor = PlainEditor()
    await ask(editor, tmp_path, "pwd; exit 3")
    assert editor.message.startswith(f"{tmp_path}/work\n\nWall time: ")
    assert editor.message.endswith("\n\nCommand exited with code 3")
    assert (editor.cards, editor.created, editor.panes) == (["t1"], 1, {})


async def test_the_agent_runs_in_terminals_of_nacre(tmp_path: Path) -> None:
    editor = NacreEditor()
    await ask(editor, tmp_path, "echo $$; kill -9 $$")
    pid = int(editor.message.split("\n")[0])
    assert editor.message.endswith("\n\nCommand exited with code 137 (killed by SIGKILL)")
    assert (editor.cards, alive(pid)) == (["term_1"], False)
    await editor.aclose()


async def test_without_terminals_the_agent_runs_its_commands_itself(tmp_path: Path) -> None:
    editor = PlainEditor()
    await ask(editor, tmp_path, "pwd", terminal=False)
    assert editor.message.startswith(f"{tmp_path}/work\n")
    assert (editor.created, [card for card in editor.cards if card]) == (0, [])


async def test_a_client_that_stops_reading_ends_the_agent_and_its_command(tmp_path: Path) -> None:
    agent = await asyncio.create_subprocess_exec(
        sys.executable, str(agent_script(tmp_path)), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert agent.stdin is not None
    assert agent.stdout is not None
    prompt = [{"type": "text", "text": f"echo $$ >{tmp_path}/pid; sleep 1000"}]
    for number, (method, params) in enumerate(
        [
            ("initialize", {"protocolVersion": 1}),
            ("session/new", {"cwd": str(tmp_path), "mcpServers": []}),
            ("session/prompt", {"sessionId": "session-1", "prompt": prompt}),
        ]
    ):
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        agent.stdin.write(json.dumps(request).encode() + b"\n")
        await agent.stdout.readline()
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
                await asyncio.sleep(0.01)
            pid = int((tmp_path / "pid").read_text())
            agent._transport.get_pipe_transport(1).close()  # type: ignore[attr-defined]
            await agent.wait()
        eventually(lambda: not alive(pid), "the end of the command")
    finally:
        if agent.returncode is None:
            agent.kill()
            await agent.wait()


def test_without_the_extra_its_name_is_said() -> None:
    script = "import sys; sys.modules['acp'] = None; import nacre.acp"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "nacre.acp needs the extra acp: pip install 'nacre-shell[acp]'" in done.stderr.splitlines()[-1]
