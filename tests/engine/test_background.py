"""A command that becomes a job while it runs: no byte is lost or written twice when the far side takes over."""

from __future__ import annotations

import os
from contextlib import aclosing
from pathlib import Path

import pytest

import nacre


async def _finished(tool: nacre.Tool, go: Path) -> None:
    """Let the held command go on, and wait for the notice of its end."""
    go.write_bytes(b"\n")
    async with aclosing(tool.notices()) as notices:
        assert (await anext(notices)).job_id == "bg_1"


async def test_the_file_of_a_kept_command_has_every_byte_once(tmp_path: Path) -> None:
    go = tmp_path / "go"
    os.mkfifo(go)
    # More than is held in memory, so that the file takes the place of an artifact.
    script = f"seq 1 200000; echo ready; read -r < {go}; seq 1 9"
    async with nacre.Tool("workspace", cwd=tmp_path) as tool:
        reply = await tool.call({"command": script, "until": {"regex": "^ready$"}})
        output = Path(reply.details["outputFile"])
        await _finished(tool, go)
    before, after = ("".join(f"{number}\n" for number in range(1, last + 1)) for last in (200000, 9))
    assert output.read_text(encoding="utf-8") == f"{before}ready\n{after}"


async def test_a_value_that_the_change_of_readers_cuts_in_two_stays_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = tmp_path / "go"
    os.mkfifo(go)
    monkeypatch.setenv("DEPLOY_TOKEN", "q8Zr4TnV0pLs7WxE")
    async with nacre.Tool("workspace", cwd=tmp_path) as tool:
        script = f"echo ready; printf q8Zr4T; read -r < {go}; echo nV0pLs7WxE"
        reply = await tool.call({"command": script, "until": {"quiet": 0.2}})
        output = Path(reply.details["outputFile"])
        await _finished(tool, go)
    kept = output.read_text(encoding="utf-8")
    assert kept.startswith("ready\n")
    assert "nV0pLs7WxE" not in kept
