"""The history keeps lines between two consoles, without secrets, and never more than its cap."""

from __future__ import annotations

import stat
from pathlib import Path

from nacre.tui.line_history import MOST_LINES, NAME, LineHistory


def test_lines_come_back_in_the_next_console(tmp_path: Path) -> None:
    first = LineHistory(str(tmp_path))
    first.add("!one")
    first.add("!two")
    first.add("!two")
    again = LineHistory(str(tmp_path))
    assert again.lines == ["!one", "!two"]
    assert [again.earlier("draft"), again.earlier(""), again.earlier("")] == ["!two", "!one", None]
    assert [again.later(), again.later(), again.later()] == ["!two", "draft", None]


def test_the_file_belongs_to_the_user_alone_and_is_bounded(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("".join(f"!{number}\n" for number in range(2 * MOST_LINES)))
    history = LineHistory(str(tmp_path))
    history.add("!last")
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600
    assert len((tmp_path / NAME).read_text().splitlines()) == MOST_LINES
    assert history.lines[-1] == "!last"


def test_hidden_values_are_not_kept(tmp_path: Path) -> None:
    history = LineHistory(str(tmp_path), hide=lambda line: line.replace("hunter2", "***"))
    history.add("!login hunter2")
    assert (tmp_path / NAME).read_text() == "!login ***\n"


def test_a_directory_that_cannot_be_written_is_told_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    history = LineHistory(str(tmp_path / "file"))
    history.add("!one")
    assert history.lines == ["!one"]
    assert history.problem is not None
    assert "the history is not kept" in history.problem


def test_a_pipe_in_the_place_of_the_file_is_not_waited_for(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / NAME)
    assert LineHistory(str(tmp_path)).lines == []
