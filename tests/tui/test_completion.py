"""Tab completes the last word: programs where a command begins, paths elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from nacre.tui.completion import common, completions


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("report.txt", "report.md", "a b.txt", ".hidden"):
        (tmp_path / name).touch()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.py").touch()
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("nacre-one", "nacre-two"):
        (programs / name).touch(mode=0o755)
    (programs / "nacre-data").touch(mode=0o644)
    return tmp_path


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("!nacre-", ["!nacre-one ", "!nacre-two "]),
        ("!!nacre-o", ["!!nacre-one "]),
        ("!cat rep", ["!cat report.md ", "!cat report.txt "]),
        ("!cat report.md | nacre-t", ["!cat report.md | nacre-two "]),
        ("!cat s", ["!cat src/"]),
        ("!cat src/m", ["!cat src/main.py "]),
        ("!cat a", ["!cat a\\ b.txt "]),
        ("!cat a\\ b", ["!cat a\\ b.txt "]),
        ("!cat .h", ["!cat .hidden "]),
        ("!cat nothing", []),
        ("!cat gone/away", []),
    ],
)
def test_the_last_word_is_completed(place: Path, line: str, found: list[str]) -> None:
    assert completions(line, str(place), str(place / "bin")) == found


def test_several_completions_share_their_beginning() -> None:
    assert common(["!cat report.md ", "!cat report.txt "]) == "!cat report."
