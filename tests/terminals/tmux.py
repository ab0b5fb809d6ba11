"""Drives programs in a real terminal: tmux draws them, a test types and reads the screen.

    with Tmux(tmp_path) as tmux:
        pane = tmux.start("nacre watch")
        pane.wait_for("0 running")
        pane.send("q")
        assert pane.exit_code() == 0

`send` takes tmux's names of keys (`Enter`, `C-c`, `Escape`, `Up`); `type` takes text as it is. Where there is no tmux,
the test is skipped.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

import pytest

PATIENCE_SECONDS = 30.0
NACRE = shlex.join([sys.executable, "-m", "nacre"])
"""The words that start `nacre` in a pane."""
_OF_A_TERMINAL = {"TERM", "COLUMNS", "LINES", "TMUX", "TMUX_PANE", "NO_COLOR"}


class Tmux:
    """A tmux server of its own; it and its programs end with the test."""

    def __init__(self, directory: Path) -> None:
        if shutil.which("tmux") is None:
            pytest.skip("needs tmux")
        # A path of a socket holds 107 bytes at most: tmux is started in the directory and names it relative to that.
        self._directory = directory
        self._started = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._started:
            self.ask("kill-server")

    def start(self, command: str, *, columns: int = 80, rows: int = 24, cwd: Path | None = None) -> Pane:
        """Start a shell command in a terminal of this size, with the environment that the test has now."""
        variables = [word for name, value in _environment().items() for word in ("-e", f"{name}={value}")]
        place = ["-c", str(self._directory if cwd is None else cwd)]
        size = ["-x", str(columns), "-y", str(rows)]
        options = ["set-option", "-g", "remain-on-exit", "on", ";", "set-option", "-g", "escape-time", "0", ";"]
        options += ["set-option", "-g", "history-limit", "5000", ";"]
        # The server has to exist before it can be told anything; it would end again at once without a session.
        begin = [] if self._started else ["start-server", ";"]
        self._started += 1
        # tmux itself sometimes forgets to collect the status of a program.
        code = self._directory / f"exit-code-{self._started}"
        told = f"({command}\n); echo $? > {shlex.quote(str(code))}"
        shown = self.ask(
            *begin, *options, "new-session", "-d", "-P", "-F", "#{pane_id}", *size, *place, *variables, told
        )
        return Pane(self, shown.strip(), code)

    def ask(self, *arguments: str) -> str:
        command = ["tmux", "-S", "tmux.socket", "-f", "/dev/null", *arguments]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=self._directory, env=_environment()
        )
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout


def _environment() -> dict[str, str]:
    """Without what describes the terminal of the test itself; readline sets some of it behind Python's back."""
    return {name: value for name, value in os.environ.items() if name not in _OF_A_TERMINAL}


class Pane:
    """One program in its terminal."""

    def __init__(self, tmux: Tmux, name: str, code: Path) -> None:
        self._tmux = tmux
        self._name = name
        self._code = code

    def send(self, *keys: str) -> None:
        """Press keys by their names."""
        self._tmux.ask("send-keys", "-t", self._name, *keys)

    def type(self, text: str) -> None:
        """Type text as it is."""
        self._tmux.ask("send-keys", "-t", self._name, "-l", "--", text)

    def screen(self, *, scrollback: bool = False) -> str:
        """Return what the terminal shows; with what has scrolled by, if that is wanted."""
        return self._tmux.ask("capture-pane", "-p", "-t", self._name, *(["-S", "-"] if scrollback else []))

    def wait_for(self, wanted: str | Callable[[str], bool]) -> str:
        """Wait until the screen shows a text, or is as a function of it wants; return the screen."""
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            shown = self.screen()
            if wanted(shown) if callable(wanted) else wanted in shown:
                return shown
            assert time.monotonic() < end, f"{wanted!r} did not show:\n{shown}"
            time.sleep(0.02)

    def resize(self, columns: int, rows: int) -> None:
        self._tmux.ask("resize-window", "-t", self._name, "-x", str(columns), "-y", str(rows))

    def fact(self, name: str) -> str:
        """Return what tmux knows of the terminal: `alternate_on`, `cursor_flag`, `mouse_any_flag`, `pane_pid`, …"""
        return self._tmux.ask("display-message", "-p", "-t", self._name, f"#{{{name}}}").strip()

    def exit_code(self) -> int:
        """Wait for the end of the program; return its code."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not self._code.exists() or not (said := self._code.read_text()):
            assert time.monotonic() < end, f"it did not end:\n{self.screen()}"
            time.sleep(0.02)
        return int(said)
