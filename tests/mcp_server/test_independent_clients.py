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
    assert (code, [tool["name"] for tool in listed["tools"]]) == (0, ["bash", "job", "read", "changes"])
    assert not {"error", "warning"} & set(said.lower().replace(":", " ").split()), said


def test_the_inspector_calls_a_tool(tmp_path: Path) -> None:
    server = [sys.executable, "-m", "nacre", "mcp"]
    call = ["--method", "tools/call", "--tool-name", "bash", "--tool-arg", "command=echo from the inspector"]
    code, result, _ = inspect(tmp_path, *server, *call)
    assert code == 0
    assert result["content"][0]["text"].startswith("from the inspector\n")


@pytest.fixture(params=["http", "stdio"])
def fixture_server(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of the server, or of the bridge to servers on pipes."""
    rules = tmp_path / "rules.toml"
    rules.write_text(RULE, encoding="utf-8")
    monkeypatch.setenv("NACRE_RULES_FILE", str(rules))
    # Whatever sleeps for a second is a task, also on a busy machine.
    monkeypatch.setenv("NACRE_AUTO_BACKGROUND_SECONDS", "0.4")
    server = str(HERE / "fixture_server.py")
    argv = [server] if request.param == "http" else [str(HERE / "bridge.py"), server, "--stdio"]
    with process(sys.executable, *argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=tmp_path) as server:
        yield address(server)
        # Its own servers end with the bridge, and only when it is asked to.
        server.terminate()
        server.wait(PATIENCE_SECONDS)


# What the suite asks of HTTP itself, which the bridge to a server on pipes has of its own.
HTTP_ALONE = """
  - dns-rebinding-protection
"""
HTTP_ALONE_MODERN = """
  # On a pipe, a first request without an envelope begins the handshake era.
  - server-stateless:sep-2575-request-meta-invalid-missing-meta
  - server-stateless:sep-2575-http-server-meta-invalid-400
  - server-stateless:sep-2575-http-server-unsupported-version-400
  - server-stateless:sep-2575-http-server-header-mismatch-400
  - server-stateless:sep-2575-missing-capability-http-400
  - server-stateless:sep-2575-http-server-method-not-found-404-initialize
  - server-stateless:sep-2575-http-server-method-not-found-404-ping
  - server-stateless:sep-2575-http-server-method-not-found-404-logging-setlevel
  - server-stateless:sep-2575-http-server-method-not-found-404-resources-subscribe
  - server-stateless:sep-2575-http-server-method-not-found-404-resources-unsubscribe
  - server-stateless:sep-2575-http-server-method-not-found-404
"""


def baseline(transport: str, revision: str, tmp_path: Path) -> Path:
    """The failures that are expected of a transport."""
    known = (HERE / "clients" / f"baseline-{revision}.yml").read_text(encoding="utf-8")
    if transport == "stdio":
        known += HTTP_ALONE + (HTTP_ALONE_MODERN if revision == "2026-07-28" else "")
    path = tmp_path / "baseline.yml"
    path.write_text(known, encoding="utf-8")
    return path


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_the_conformance_suite_fails_only_where_nacre_is_no_such_server(
    request: pytest.FixtureRequest, fixture_server: str, revision: str, tmp_path: Path
) -> None:
    expected = baseline(request.node.callspec.params["fixture_server"], revision, tmp_path)
    wanted = ["--requirements", revision, "--expected-failures", str(expected)]
    done = subprocess.run(
        [node(), str(SUITE), "server", "--url", fixture_server, *wanted],
        capture_output=True,
        cwd=tmp_path,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode()[-4000:]
