"""Real programs in the console of `nacre tui`, in a real terminal; another program runs them, as an agent does."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from remote.sshd import Sshd
from terminals.tmux import NACRE, Pane, Tmux

# Real programs in real terminals: on one Python, beside the other parts.
pytestmark = pytest.mark.parts

SECRET = "Zx9-hidden-Kq4-input-Wm7"
OPEN = "Console [running]"

CURSES = """
import curses
def main(screen):
    curses.curs_set(0)
    screen.keypad(True)
    key = None
    while key != ord("q"):
        rows, columns = screen.getmaxyx()
        screen.addstr(0, 0, f"curses {columns}x{rows}  ")
        names = {curses.KEY_UP: "went up", curses.KEY_F1: "pressed F1"}
        screen.addstr(2, 2, names.get(key, "another key"), curses.A_BOLD)
        screen.refresh()
        key = screen.getch()
curses.wrapper(main)
"""
ASKS_AS_SUDO = 'import getpass; print(len(getpass.getpass("[sudo] password for ada: ")), "characters")'


@contextmanager
def agent(command: str, place: Path) -> Iterator[subprocess.Popen[str]]:
    """Another program that runs a command on a terminal in the foreground."""
    arguments = json.dumps({"command": command, "pty": True, "cwd": str(place)})
    program = [sys.executable, "-m", "nacre", "call", "workspace", arguments]
    process = subprocess.Popen(program, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout:
        try:
            yield process
        except BaseException:
            # A foreground command ends with its program.
            process.kill()
            raise
        finally:
            process.wait()


def answer_of(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    found: dict[str, Any] = json.loads(process.stdout.read())
    return found


def tui(tmux: Tmux) -> Pane:
    pane = tmux.start(f"{NACRE} tui; echo ended with $?; exec cat", columns=100, rows=32)
    pane.wait_for("F1 help")
    return pane


def leave(pane: Pane) -> None:
    pane.wait_for("session finished")
    pane.send("Escape")
    pane.wait_for("F1 help")
    end(pane)


def end(pane: Pane) -> None:
    pane.send("C-q")
    pane.wait_for("ended with 0")


def need(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"needs {program}")


def test_vim_edits_a_file(tmux: Tmux, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `pty.escape = double` one Esc is vim's."""
    need("vim")
    monkeypatch.setenv("NACRE_PTY_ESCAPE", "double")
    pane = tui(tmux)
    with agent("vim -u NONE -N notes.txt", tmp_path) as process:
        pane.wait_for(lambda screen: OPEN in screen and "notes.txt" in screen)
        pane.send("i")
        pane.wait_for("-- INSERT --")
        pane.type("written in vim")
        pane.send("Enter", "Up", "Home")
        pane.type("1: ")
        pane.send("Escape")
        pane.wait_for(lambda screen: "-- INSERT --" not in screen)
        pane.type(":wq")
        pane.send("Enter")
        leave(pane)
        assert not answer_of(process)["is_error"]
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "1: written in vim\n\n"


def test_top_redraws_and_quits(tmux: Tmux, tmp_path: Path) -> None:
    need("top")
    pane = tui(tmux)
    with agent("top -d 0.5", tmp_path) as process:
        pane.wait_for(lambda screen: "load average" in screen and "PID" in screen)
        pane.send("q")
        leave(pane)
        assert not answer_of(process)["is_error"]


def test_less_pages_searches_and_quits(tmux: Tmux, tmp_path: Path) -> None:
    need("less")
    (tmp_path / "lines").write_text("".join(f"line {number}\n" for number in range(1, 501)), encoding="utf-8")
    pane = tui(tmux)
    with agent("less lines", tmp_path):
        pane.wait_for(lambda screen: OPEN in screen and "line 20" in screen)
        pane.send("Space")
        pane.wait_for("line 50")
        pane.type("/line 400")
        pane.send("Enter")
        pane.wait_for("line 401")
        pane.send("NPage")
        pane.wait_for("line 440")
        pane.send("q")
        leave(pane)


def test_a_python_repl_evaluates_recalls_and_ends(tmux: Tmux, tmp_path: Path) -> None:
    pane = tui(tmux)
    with agent(f"{sys.executable} -q", tmp_path):
        pane.wait_for(">>>")
        pane.type("'ab' * 3")
        pane.send("Enter")
        pane.wait_for("'ababab'")
        pane.send("Up", "BSpace")
        pane.type("4")
        pane.send("Enter")
        pane.wait_for("'abababab'")
        pane.send("C-d")
        leave(pane)


def test_a_full_screen_curses_program(tmux: Tmux, tmp_path: Path) -> None:
    (tmp_path / "screen.py").write_text(CURSES, encoding="utf-8")
    pane = tui(tmux)
    with agent(f"{sys.executable} screen.py", tmp_path):
        pane.wait_for("curses 98x30")
        pane.send("Up")
        pane.wait_for("went up")
        pane.send("F1")
        pane.wait_for("pressed F1")
        pane.send("q")
        leave(pane)


@pytest.mark.parametrize(
    "command",
    [
        "read -rsp 'Token: ' token; echo; echo \"${#token} characters\"",
        # As sudo asks: the terminal opened by its name, echo off, and the prompt with the user's name.
        f"{sys.executable} -c '{ASKS_AS_SUDO}'",
    ],
    ids=["read -s", "sudo-like"],
)
def test_what_is_typed_at_a_hidden_prompt_is_recorded_nowhere(
    tmux: Tmux, tmp_path: Path, home: Path, command: str
) -> None:
    pane = tui(tmux)
    with agent(command, tmp_path) as process:
        pane.wait_for(lambda screen: OPEN in screen and ("Token:" in screen or "password for ada:" in screen))
        answer = answer_of(process)
        assert answer["details"]["waitingFor"]["hidden"] is True
        pane.type(SECRET)
        pane.send("Enter")
        pane.wait_for("24 characters")
        leave(pane)
    assert SECRET not in json.dumps(answer)
    assert files_with(SECRET, home) == []


def test_ssh_asks_about_the_host_key_and_goes_on(tmux: Tmux, tmp_path: Path) -> None:
    with Sshd(tmp_path) as server:
        pane = tui(tmux)
        with agent(server.command("echo from far away"), tmp_path) as process:
            pane.wait_for("continue connecting")
            assert "continue connecting" in answer_of(process)["details"]["waitingFor"]["prompt"]
            pane.type("yes")
            pane.send("Enter")
            pane.wait_for("from far away")
            leave(pane)
        assert "127.0.0.1" in server.unknown_hosts.read_text(encoding="utf-8")


def test_a_hidden_prompt_is_answered_in_the_jobs_panel(tmux: Tmux, tmp_path: Path, home: Path) -> None:
    pane = tui(tmux)
    pane.type("!")  # something is being typed: no console opens by itself
    command = "read -rsp 'Token: ' token; echo; echo \"${#token} characters\"; read -r over"
    with agent(command, tmp_path) as process:
        answer = answer_of(process)
    pane.wait_for("It waits for input: Token:")
    pane.send("F2")
    # The row of the panel: the transcript says "waits" too, before the panel takes keys.
    pane.wait_for("▸ bg_1  waits")
    pane.send("i")
    pane.wait_for("a line for bg_1")
    pane.type(SECRET)
    screen = pane.wait_for("•" * 24)
    assert SECRET not in screen
    pane.send("Enter")
    pane.wait_for("24 characters")
    pane.send("s")
    pane.wait_for("0 running of 1")
    end(pane)
    assert SECRET not in json.dumps(answer)
    assert files_with(SECRET, home) == []


def files_with(text: str, place: Path) -> list[Path]:
    """Return the files below a directory that hold a text."""
    return [path for path in place.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]
