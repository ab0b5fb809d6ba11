"""The picture in the guide to `nacre watch` is what a terminal shows."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from terminals.tmux import NACRE, Tmux

pytest.importorskip("pyghostty", reason="needs an emulator")

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "watch.md"
MAKEFILE = """\
test:
	@printf 'test %s ok\\n' $$(seq 24)
	@echo 'FAILED tests/test_cart.py::test_total'; exit 1
"""
ASKS = "echo 'Deploying 3 services to production'; read -rp 'Go on? [y/N] ' answer"


def timeless(screen: str) -> str:
    """Without what differs from run to run."""
    return re.sub(r"\d+\.\ds \|", "0.4s |", screen).rstrip("\n")


def test_the_picture_is_what_watch_shows(tmux: Tmux, tmp_path: Path) -> None:
    project = tmp_path / "shop"
    (project / ".git").mkdir(parents=True)
    (project / "Makefile").write_text(MAKEFILE)
    pane = tmux.start(f"{NACRE} watch", columns=90, rows=30)
    pane.wait_for("0 running")

    def call(command: str, **fields: object) -> None:
        words = [*shlex.split(NACRE), "call", "workspace", json.dumps({"command": command, **fields})]
        subprocess.run(words, check=True, capture_output=True, cwd=project)

    call("make test")
    pane.wait_for("exit 2]")
    call(ASKS, pty=True, **{"async": True})
    pane.wait_for("t answers")
    shown = timeless(pane.screen())
    guide = GUIDE.read_text(encoding="utf-8")
    assert f"```text\n{shown}\n```" in guide, shown
    pane.send("t")
    pane.wait_for("taken over")
    pane.send("Enter")
    pane.wait_for("0 running")
    pane.send("q")
    assert pane.exit_code() == 0
