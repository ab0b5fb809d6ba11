"""Each program in examples/ runs as its first lines say, and prints what it promises."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PATIENCE_SECONDS = 50.0

# A few lines of each, whole: what a reader of the program expects to see.
EXPECTED = {
    "library.py": [
        "run: exit code 3, text 'hello\\n'",
        "session: hello from /tmp",
        "background: bg_1",
        "stopped: True",
    ],
    "agent_loop.py": ["AssertionError", "Command exited with code 1", "passed", "The test passes now."],
    "mcp_client.py": ["tools: bash, job, read, changes", "hello from MCP"],
    "own_approver.py": [
        "asked: make deploy -n (deploys)",
        "ran: make deploy -n",
        "asked: make deploy (deploys)",
        "denied by deploys: make deploy",
    ],
    "own_backend.py": [
        "accepted: the place keeps the contract of a backend",
        "hello from /bin/bash",
        "{'stdout': '', 'stderr': '', 'exitCode': 3}",
    ],
    "own_contract.py": [
        "tool: run_program",
        "0: two  spaces $HOME",
        "not run: field 'words' must be a list of texts, not empty",
    ],
    "own_resolver.py": [
        "The door does not close.",
        "field 'command' holds ticket://7, which leads nowhere: there is no ticket 7; there are 42",
    ],
    "own_rule.py": [
        "rule: no-deploys, deny",
        "denied by no-deploys: cd / && make deploy",
        "ran: echo make deploy",
    ],
}


def test_every_example_is_run() -> None:
    # The one with a screen is driven by tests/tui/test_command_card.py.
    assert {path.name for path in EXAMPLES.glob("*.py")} == {*EXPECTED, "textual_agent.py"}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_example_prints_what_it_promises(name: str) -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / name],
        capture_output=True,
        text=True,
        env=dict(os.environ),
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in EXPECTED[name] if line not in lines] == []
