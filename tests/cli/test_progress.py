"""The line about a long command: drawn below its output, erased before more comes, absent where it would garble."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.conftest import Nacre

pytestmark = pytest.mark.slow

ERASE = "\r\x1b[K"


def test_a_silent_command_shows_how_long_how_much_and_its_last_line(nacre: Nacre, tmp_path: Path) -> None:
    shown = nacre.at_terminal("run", "--", "echo one; echo two; sleep 2.6; echo three", NO_COLOR="1").out
    before, _, after = shown.partition(ERASE)
    assert before == "one\ntwo\n"
    assert after.startswith("running 2.")
    assert " · 8B · 2 lines · two" in after
    # Erased before the next line of output, and its end is told.
    assert f"{ERASE}three\n✓ exit 0 · 2." in after


def test_nothing_is_drawn_into_an_unfinished_line(nacre: Nacre) -> None:
    shown = nacre.at_terminal("run", "--", "printf 'half a '; sleep 2.6; echo line", NO_COLOR="1").out
    assert shown.startswith("half a line\n✓ exit 0")


@pytest.mark.parametrize("columns", [20, 40])
def test_a_narrow_terminal_has_the_line_on_one_row(nacre: Nacre, columns: int) -> None:
    shown = nacre.at_terminal("run", "--", f"echo {'x' * 100}; sleep 2.6", columns=columns, NO_COLOR="1").out
    drawn = [part for part in shown.split(ERASE)[1:] if part.startswith("running")]
    assert drawn
    assert all(len(part.splitlines()[0]) < columns for part in drawn)


def test_a_dumb_terminal_and_a_pipe_have_no_line(nacre: Nacre) -> None:
    command = ("run", "--", "echo one; sleep 2.2")
    assert ERASE not in nacre.at_terminal(*command, TERM="dumb").out
    done = nacre(*command)
    assert (done.out, done.err) == ("one\n", "")
