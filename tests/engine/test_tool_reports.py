"""`minimizer.reports`: pytest's own report decides whether a shortened text is shown."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import nacre
from nacre.engine.tool_reports import VARIABLE, with_report
from nacre.request import ShellRequest
from nacre.settings import MinimizerSettings, Settings

TEST = """
import pytest

@pytest.mark.parametrize("number", range(60))
def test_many(number):
    assert number != 7
"""
HIDES_NAMES = """
name = "pytest"
commands = ["pytest"]
[[noise]]
kind = "rows"
rows = ['test_many']
overrides = true
[[example]]
command = "pytest"
input = "a"
expected = "a"
"""
SETTINGS = Settings(minimizer=MinimizerSettings(reports=True))


async def _run(folder: Path) -> nacre.Reply:
    (folder / "test_many.py").write_text(TEST, encoding="utf-8")
    # Without the summary the name of the failing test stands in rows that a filter may override.
    command = f"{sys.executable} -m pytest -v --tb=no -r N -p no:cacheprovider -p no:randomly test_many.py"
    async with nacre.Tool("workspace", cwd=str(folder), settings=SETTINGS) as tool:
        return await tool.call({"command": command})


async def test_a_text_that_agrees_with_the_report_is_shown(home: Path, tmp_path: Path) -> None:
    reply = await _run(tmp_path)
    assert "minimized" in reply.details
    assert "test_many[7] FAILED" in reply.text
    assert list((home / "reports").iterdir()) == []


async def test_a_text_that_does_not_agree_gives_way_to_the_raw_one(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "config" / "nacre" / "filters"
    folder.mkdir(parents=True)
    (folder / "pytest.toml").write_text(HIDES_NAMES, encoding="utf-8")
    reply = await _run(tmp_path)
    assert "minimized" not in reply.details
    assert reply.text.count("PASSED") == 59
    assert "the output is not shortened: by pytest's own report 1 of 1 failing tests are missing" in reply.text


def test_options_of_the_user_and_of_the_call_stay(tmp_path: Path) -> None:
    state = str(tmp_path)
    of_user = with_report(ShellRequest(command="pytest"), {VARIABLE: "-q"}, state)
    assert (of_user.env or {})[VARIABLE].startswith("-q --junitxml=")
    of_call = with_report(ShellRequest(command="pytest", env={VARIABLE: "-x", "A": "1"}), {VARIABLE: "-q"}, state)
    assert (of_call.env or {})[VARIABLE].startswith("-x --junitxml=")
    assert (of_call.env or {})["A"] == "1"
    own = ShellRequest(command="pytest --junitxml=mine.xml")
    assert with_report(own, {}, state) is own
