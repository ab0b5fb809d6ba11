"""The picture in the documents is what the console shows."""

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


async def test_the_picture_is_what_the_console_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = script()
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(project)
    drawn, kept = await module.draw(), module.PICTURE.read_text(encoding="utf-8")
    assert module.words(drawn) == module.words(kept), "run `python docs/tui_picture.py`, and look at it"
