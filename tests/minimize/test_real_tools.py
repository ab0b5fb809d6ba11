"""Real tools, once passing and once failing, through the workspace tool: what failed is in the view."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import nacre

PYTHON_TEST = """
import pytest

@pytest.mark.parametrize("number", range(60))
def test_many(number):
    print("captured", number)
    assert number % 20 != {rest}, f"number {{number}} is wrong"
"""
C_FILE = '#include <stdio.h>\nint f{number}(void) {{ int unused; printf("%s", 3); return {value}; }}\n'
NODE_TEST = """
const test = require("node:test"), assert = require("node:assert");
for (let i = 0; i < 60; i++) test(`adds ${i}`, () => assert.notStrictEqual(i % 20, REST));
"""


def _pytest(root: Path, *, fails: bool) -> str:
    (root / "test_many.py").write_text(PYTHON_TEST.format(rest=7 if fails else 99), encoding="utf-8")
    return f"{sys.executable} -m pytest -v -p no:cacheprovider -p no:randomly test_many.py"


def _make(root: Path, *, fails: bool) -> str:
    for number in range(6):
        value = f"missing_{number}" if fails else "0"
        (root / f"f{number}.c").write_text(C_FILE.format(number=number, value=value), encoding="utf-8")
    objects = " ".join(f"f{number}.o" for number in range(6))
    (root / "Makefile").write_text(f"all: {objects}\n%.o: %.c\n\tcc -Wall -c $< -o $@\n", encoding="utf-8")
    return "make -k"


def _node(root: Path, *, fails: bool) -> str:
    (root / "many.test.js").write_text(NODE_TEST.replace("REST", "7" if fails else "99"), encoding="utf-8")
    return "node --test --test-reporter=tap"


@dataclass(frozen=True)
class Tried:
    program: str
    prepare: Callable[..., str]
    evidence: str
    """A pattern of what must survive: names and messages of what failed, and warnings."""


TOOLS = [
    Tried(
        sys.executable, _pytest, r"test_many\[\d+\] (?=FAILED)|number \d+ is wrong|captured (?:7|27|47)\b|\d+ passed"
    ),
    Tried("make", _make, r"f\d\.c:\d+:\d+: (?:error|warning): .*|make: \*\*\* .*"),
    Tried("node", _node, r"not ok \d+ - adds \d+|# (?:pass|fail) \d+"),
]


@pytest.mark.parametrize("fails", [False, True], ids=["passing", "failing"])
@pytest.mark.parametrize("tried", TOOLS, ids=["pytest", "make", "node"])
async def test_what_failed_is_in_the_view(
    tried: Tried, fails: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which(tried.program) is None or (tried.program == "make" and shutil.which("cc") is None):
        pytest.skip(f"{tried.program} is not installed here")
    monkeypatch.setenv("NACRE_HOME", str(tmp_path / "state"))
    work = tmp_path / "work"
    work.mkdir()
    command = tried.prepare(work, fails=fails)
    async with nacre.Tool("workspace", cwd=str(work)) as tool:
        reply = await tool.call({"command": command})
        assert reply.is_error is fails
        assert "minimized" in reply.details, reply.text
        path = tool.engine.artifacts.plain_path(int(reply.details["minimized"]["artifactId"]))
    raw = Path(path).read_text(encoding="utf-8")
    wanted = set(re.findall(tried.evidence, raw))
    assert bool(wanted)
    assert {one for one in wanted if one.strip() not in reply.text} == set()
