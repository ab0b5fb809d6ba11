"""A person can let one call run without its sandbox; nothing else can."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import nacre
from nacre.guard.verdict import Verdict
from nacre.sandbox.probing import probe
from nacre.settings import SandboxSettings, ShellSettings

pytestmark = pytest.mark.skipif(
    probe(os.environ.get("PATH", os.defpath)).backend != "bubblewrap", reason="bubblewrap cannot make a sandbox here"
)
SETTINGS = nacre.Settings(shell=ShellSettings(snapshot=False), sandbox=SandboxSettings(mode="required"))


class Person:
    """Answers every question alike, and remembers them."""

    def __init__(self, *answers: bool) -> None:
        self._answers = list(answers)
        self.questions: list[Verdict] = []

    async def __call__(self, command: str, verdict: Verdict) -> bool:
        self.questions.append(verdict)
        return self._answers.pop(0)


@pytest.fixture
def outside() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as path:
        yield Path(path)


async def test_an_approved_call_runs_again_without_the_sandbox_this_once(tmp_path: Path, outside: Path) -> None:
    person = Person(True, False)
    async with nacre.Tool("workspace", cwd=tmp_path, settings=SETTINGS, approver=person) as tool:
        await tool.call({"command": "name=x"})
        reply = await tool.call({"command": f"touch {outside}/$name"})
        assert not reply.is_error, reply.text
        assert "ran again, without the sandbox" in reply.text
        assert reply.details["sandbox"]["backend"] == "none"
        assert [one.name for one in outside.iterdir()] == ["x"]
        again = await tool.call({"command": f"touch {outside}/y"})
        assert "Read-only file system" in again.text
        assert again.details["sandbox"]["backend"] == "bubblewrap"
    assert [(one.decision, one.rule) for one in person.questions] == [("ask", "sandbox")] * 2
    assert "may be the sandbox's doing" in person.questions[0].message
    assert [one.name for one in outside.iterdir()] == ["x"]


async def test_without_a_person_the_result_stays(tmp_path: Path, outside: Path) -> None:
    result = await nacre.run(f"touch {outside}/x", cwd=tmp_path, settings=SETTINGS)
    assert not result.ok
    assert list(outside.iterdir()) == []


async def test_a_failure_that_is_none_of_the_sandboxes_is_no_question(tmp_path: Path) -> None:
    person = Person()
    async with nacre.Tool("workspace", cwd=tmp_path, settings=SETTINGS, approver=person) as tool:
        assert (await tool.call({"command": "echo wrong; exit 3"})).is_error
    assert person.questions == []
