"""Clients that others wrote, from npm: the Inspector and the conformance suite. `.ci/parts` installs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcp_server.test_elicitation import RULE
from mcp_server.test_endings import address, process

ROOT = Path(__file__).resolve().parents[2]
MODULES = ROOT / ".node" / "node_modules"
INSPECTOR = MODULES / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
SUITE = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
HERE = Path(__file__).parent
# The suite sleeps and polls; on a busy machine it takes a while.
PATIENCE_SECONDS = 150.0
# Read here, because no test sees a variable of nacre's.
REQUIRED = "NACRE_TEST_REQUIRED" in os.environ

pytestmark = [pytest.mark.parts, pytest.mark.timeout(180)]


def node() -> str:
    """A Node that is new enough, which no distribution has yet."""
    found = [path for path in sorted(MODULES.glob("node-linux-*/bin/node")) if _runs(path)]
    if not found:
        reason = "the clients from npm are not installed: run .ci/parts where npm is"
        pytest.fail(reason) if REQUIRED else pytest.skip(reason)
    return str(found[0])


def _runs(path: Path) -> bool:
    try:
        return subprocess.run([path, "--version"], capture_output=True, check=False, timeout=30).returncode == 0
    except OSError:
        return False


def inspect(tmp_path: Path, *arguments: str) -> tuple[int, Any, str]:
    done = subprocess.run(
        [node(), str(INSPECTOR), "--cli", *arguments],
        capture_output=True,
        env=os.environ | {"HOME": str(tmp_path)},
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    return done.returncode, json.loads(done.stdout or "null"), done.stderr.decode()


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_lists_the_tools_and_finds_no_fault_in_their_schemas(tmp_path: Path, era: str) -> None:
    server = [sys.executable, "-m", "nacre", "mcp"]
    code, listed, said = inspect(tmp_path, *server, "--method", "tools/list", "--strict", "--protocol-era", era)
    assert (code, [tool["name"] for tool in listed["tools"]]) == (0, ["bash", "job", "read"])
    assert not {"error", "warning"} & set(said.lower().replace(":", " ").split()), said


def test_the_inspector_calls_a_tool(tmp_path: Path) -> None:
    server = [sys.executable, "-m", "nacre", "mcp"]
    call = ["--method", "tools/call", "--tool-name", "bash", "--tool-arg", "command=echo from the inspector"]
    code, result, _ = inspect(tmp_path, *server, *call)
    assert code == 0
    assert result["content"][0]["text"].startswith("from the inspector\n")


@pytest.fixture
def fixture_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    rules = tmp_path / "rules.toml"
    rules.write_text(RULE, encoding="utf-8")
    monkeypatch.setenv("NACRE_RULES_FILE", str(rules))
    # Whatever sleeps for a second is a task, also on a busy machine.
    monkeypatch.setenv("NACRE_AUTO_BACKGROUND_SECONDS", "0.4")
    argv = (sys.executable, str(HERE / "fixture_server.py"))
    with process(*argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=tmp_path) as server:
        yield address(server)


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_the_conformance_suite_fails_only_where_nacre_is_no_such_server(
    fixture_server: str, revision: str, tmp_path: Path
) -> None:
    baseline = HERE / "clients" / f"baseline-{revision}.yml"
    wanted = ["--requirements", revision, "--expected-failures", str(baseline)]
    done = subprocess.run(
        [node(), str(SUITE), "server", "--url", fixture_server, *wanted],
        capture_output=True,
        cwd=tmp_path,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode()[-4000:]
