"""The clients of the guide work as they stand there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "rpc.md"
PATIENCE_SECONDS = 40.0


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return found


def run(argv: list[str]) -> str:
    # `nacre` as its users find it: beside the interpreter that the tests run in.
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        argv,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.skipif(shutil.which("node") is None, reason="no node (Debian: apt-get install nodejs)")
def test_the_client_in_node_runs_aborts_and_ends(tmp_path: Path) -> None:
    script = tmp_path / "client.mjs"
    script.write_text(block("js"), encoding="utf-8")
    assert run(["node", str(script)]) == "hello from Node 3\ntrue\n"


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (Debian: apt-get install gcc libc6-dev)")
def test_the_client_in_c_gets_its_answer(tmp_path: Path) -> None:
    source, program = tmp_path / "client.c", tmp_path / "client"
    source.write_text(block("c"), encoding="utf-8")
    run(["cc", "-Wall", "-Werror", "-o", str(program), str(source)])
    answer = json.loads(run([str(program), "echo hello from C; exit 3"]))
    assert (answer["id"], answer["success"], answer["data"]["details"]["exitCode"]) == (1, True, 3)
    assert answer["data"]["text"].startswith("hello from C\n")
