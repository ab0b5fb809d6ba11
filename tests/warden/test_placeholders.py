"""Placeholders are there while any sandbox needs them, and gone with the last."""

from __future__ import annotations

from pathlib import Path

from nacre.regular_file import stamp_of
from nacre.warden.placeholders import Placeholders, listed


def test_the_last_that_lets_go_removes_them(tmp_path: Path) -> None:
    register, path = str(tmp_path / "register"), tmp_path / "nacre.toml"
    first, second = Placeholders(register, [str(path)]), Placeholders(register, [str(path)])
    assert path.is_dir()
    assert listed(register) == [str(path)]
    first.release()
    assert path.is_dir()
    second.release()
    assert not path.exists()
    assert listed(register) == []


def test_what_was_there_before_or_is_in_use_stays(tmp_path: Path) -> None:
    register, mine, used = str(tmp_path / "register"), tmp_path / "mine", tmp_path / "used"
    mine.mkdir()
    held = Placeholders(register, [str(mine), str(used)])
    (used / "file").touch()
    held.release()
    assert (mine.is_dir(), used.is_dir()) == (True, True)


def test_what_a_killed_program_has_left_is_removed_by_the_next(tmp_path: Path) -> None:
    register, left = tmp_path / "register", tmp_path / "left"
    left.mkdir()
    register.write_bytes(f"{left}\0".encode())
    Placeholders(str(register), []).release()
    assert not left.exists()


def test_a_placeholder_of_settings_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "nacre.toml"
    held = Placeholders(str(tmp_path / "register"), [str(path)])
    assert stamp_of(str(path)) is None
    held.release()
