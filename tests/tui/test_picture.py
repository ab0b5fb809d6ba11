"""The pictures in the documents are what the console shows, in the same colours."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "tui_picture.py"


def script() -> Any:
    spec = importlib.util.spec_from_file_location("tui_picture", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["tui", "tui-light", "tui-jobs", "tui-console", "tui-help"])
async def test_a_picture_is_what_the_console_shows(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = script()
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(project)
    drawn, kept = await module.DRAW[name](), module.PICTURES[name].read_text(encoding="utf-8")
    assert module.painted(drawn) == module.painted(kept), "run `python docs/tui_picture.py`, and look at it"
