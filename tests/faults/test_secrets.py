"""A secret in the environment of nacre: a command can read it from none of nacre's processes (case 84)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from outside import PLAIN_USER, Program, nacre

VALUE = "value-that-only-this-test-has-4711"
# The files of /proc that show the value; grep itself has it among its arguments, not in its environment.
SEARCH = f"grep -lsa {VALUE} /proc/[0-9]*/environ; echo searched"

HOST = """
import sys
import nacre

if sys.argv[1] == "closed":
    nacre.become_unreadable()
print(nacre.run_sync(sys.argv[2], settings=nacre.Settings()).text, end="", flush=True)
"""


def environment(home: Path) -> dict[str, str]:
    return {"NACRE_HOME": str(home / "state"), "HOME": str(home), "TMPDIR": str(home), "BUILD_API_TOKEN": VALUE}


def test_case_84_no_process_of_the_command_line_shows_its_environment(plain_home: Path) -> None:
    code, out, errors = nacre("run", "--", SEARCH, user=PLAIN_USER, env=environment(plain_home), cwd="/").finish()
    assert (code, out, errors) == (0, "searched\n", "")


def test_case_84_embedding_program_closes_its_environment_on_request(plain_home: Path) -> None:
    """Without the request the program itself is readable, and nothing of the far side is."""
    options: dict[str, Any] = {"user": PLAIN_USER, "env": environment(plain_home), "cwd": "/"}
    readable = Program(HOST, "open", SEARCH, **options)
    assert readable.succeed() == f"/proc/{readable.pid}/environ\nsearched\n"
    assert Program(HOST, "closed", SEARCH, **options).succeed() == "searched\n"
