"""The options of the sandbox stand before any verb and on `run`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import Nacre
from nacre.sandbox.probing import probe

needs_bubblewrap = pytest.mark.skipif(
    probe(os.environ.get("PATH", os.defpath)).backend != "bubblewrap", reason="bubblewrap cannot make a sandbox here"
)


@needs_bubblewrap
@pytest.mark.parametrize(
    "words",
    [
        ["--sandbox", "required", "--access", "read-only", "run"],
        ["--sandbox=required", "--access=read-only", "run"],
        ["run", "--sandbox", "required", "--access", "read-only"],
    ],
)
def test_before_the_verb_and_after_it(words: list[str], nacre: Nacre, tmp_path: Path) -> None:
    done = nacre(*words, "--json", "--", "touch x; echo $?", cwd=tmp_path)
    answer = json.loads(done.out)
    assert answer["text"].endswith("1\n")
    assert (answer["sandbox"]["backend"], answer["sandbox"]["access"]) == ("bubblewrap", "read-only")
    assert not (tmp_path / "x").exists()


@needs_bubblewrap
def test_a_tool_call_is_confined_too(nacre: Nacre, tmp_path: Path) -> None:
    done = nacre("--sandbox", "required", "call", "workspace", '{"command": "touch /etc/nacre-cli"}', cwd=tmp_path)
    answer = json.loads(done.out)
    assert "Read-only file system" in answer["text"]
    assert answer["details"]["sandbox"]["network"] == "off"


@needs_bubblewrap
def test_standard_input_reaches_a_confined_command(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "nacre", "run", "--sandbox", "required", "--stdin", "--", "cat"]
    done = subprocess.run(words, input="hello\n", capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout) == (0, "hello\n"), done.stderr


def test_a_wrong_value_and_a_missing_one(nacre: Nacre, tmp_path: Path) -> None:
    wrong = nacre("--sandbox", "loose", "run", "--", "true", cwd=tmp_path)
    assert (wrong.code, wrong.err) == (125, 'nacre: NACRE_SANDBOX is "loose"; accepted: "off", "auto", "required"\n')
    missing = nacre("--network", cwd=tmp_path)
    assert (missing.code, missing.err) == (2, "nacre: --network needs a value: on|off|HOST[:PORT],…\n")


def test_required_runs_nothing_where_it_cannot_hold(nacre: Nacre, tmp_path: Path) -> None:
    done = nacre("--sandbox", "required", "run", "--json", "--", "touch x", cwd=tmp_path, env={"PATH": "/nowhere"})
    answer = json.loads(done.out)
    assert (done.code, answer["outcome"]) == (125, "notStarted")
    assert "a sandbox is required and cannot be had" in answer["notices"][0]
    assert not (tmp_path / "x").exists()
