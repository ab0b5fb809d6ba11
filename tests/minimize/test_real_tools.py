"""Real tools, once passing and once failing, through the workspace tool: what failed is in the view."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from tool_projects import NODE_TOOLS, TOOLS, RealTool

import nacre

REQUIRED = "NACRE_TEST_REQUIRED" in os.environ


def _require(tool: RealTool) -> None:
    missing = [program for program in tool.programs if shutil.which(program) is None]
    if tool.module and not (NODE_TOOLS / tool.module).is_dir():
        missing.append(f"the Node module {tool.module}")
    if missing and not REQUIRED:
        pytest.skip(f"{missing[0]} is not installed here; .ci/parts installs it")
    assert missing == []


def _plain(text: str) -> str:
    return re.sub(r"[ \t\u00a0]+", " ", re.sub(r"\x1b\[[0-9;]*m", "", text))


@pytest.mark.parametrize("fails", [False, True], ids=["passing", "failing"])
@pytest.mark.parametrize(
    "tool", [pytest.param(one, id=one.name, marks=[pytest.mark.parts] if one.slow else []) for one in TOOLS]
)
async def test_what_failed_is_in_the_view(
    tool: RealTool, fails: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _require(tool)
    monkeypatch.setenv("NACRE_HOME", str(tmp_path / "state"))
    work = tmp_path / "work"
    work.mkdir()
    command = tool.prepare(work, fails)
    async with nacre.Tool("workspace", cwd=str(work)) as shell:
        reply = await shell.call({"command": command, "timeout": 240})
        assert reply.is_error is fails, reply.text
        raw = reply.text
        if tool.shortens in ("both", "failing" if fails else "passing"):
            assert "minimized" in reply.details, reply.text
        if "minimized" in reply.details:
            path = shell.engine.artifacts.plain_path(int(reply.details["minimized"]["artifactId"]))
            raw = Path(path).read_text(encoding="utf-8")
    wanted = {match[0].strip() for match in re.finditer(tool.evidence, _plain(raw), re.MULTILINE)}
    assert wanted or not fails
    assert {one for one in wanted if one not in _plain(reply.text)} == set()
