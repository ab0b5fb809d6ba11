"""`nacre tui` gives the terminal back however it ends, and says what it needs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

PATIENCE_SECONDS = 30.0
NACRE = f"{sys.executable} -m nacre"


class Tmux:
    """A real terminal with a shell in it."""

    def __init__(self, place: Path) -> None:
        self._socket = str(place / "tmux")
        self.place = place
        shell = "exec env PS1='% ' bash --norc --noprofile"
        self.run("-f", "/dev/null", "new-session", "-d", "-x", "90", "-y", "26", "-c", str(place), shell)

    def run(self, *arguments: str) -> str:
        done = subprocess.run(["tmux", "-S", self._socket, *arguments], capture_output=True, text=True, check=True)
        return done.stdout

    def types(self, *keys: str) -> None:
        self.run("send-keys", *keys)

    def screen(self) -> str:
        return self.run("capture-pane", "-p")

    def shows(self, text: str) -> str:
        end = time.monotonic() + PATIENCE_SECONDS
        while text not in self.screen():
            assert time.monotonic() < end, f"{text!r} is not on the screen:\n{self.screen()}"
            time.sleep(0.02)
        return self.screen()

    def state(self) -> str:
        return self.run("display", "-p", "#{alternate_on} #{mouse_any_flag} #{cursor_flag}").strip()


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    if shutil.which("tmux") is None:
        pytest.skip("needs tmux")
    terminal = Tmux(tmp_path)
    yield terminal
    terminal.run("kill-server")


SESSION = f"""
stty -a > before
sh -c 'echo $$ > pid; exec {NACRE} tui'
echo $? > code
stty -a > after
echo all is over
"""


@pytest.mark.parametrize(("way", "code"), [("ctrl+q", 0), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_the_terminal_is_left_clean_however_it_ends(tmux: Tmux, way: str, code: int) -> None:
    (tmux.place / "session").write_text(SESSION)
    tmux.types("sh session", "Enter")
    tmux.shows("F1 help")
    assert tmux.state().startswith("1 1")
    if way == "ctrl+q":
        tmux.types("C-q")
    else:
        os.kill(int((tmux.place / "pid").read_text()), getattr(signal, way))
    tmux.shows("all is over")
    assert tmux.state() == "0 0 1"
    assert (tmux.place / "before").read_text() == (tmux.place / "after").read_text()
    assert int((tmux.place / "code").read_text()) == code


def test_without_a_terminal_it_names_the_plain_console() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "nacre", "tui"], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert done.returncode == 125
    assert "nacre tui --plain" in done.stderr


def test_the_plain_console_needs_neither_rich_nor_textual() -> None:
    script = (
        "import sys; from nacre.cli import main; code = main(['tui', '--plain'])\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('rich', 'textual')], code)"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, input="!echo hi\n", capture_output=True, text=True, check=False)
    assert "hi\nEnded: exit 0" in done.stdout, done.stderr
    assert done.stdout.endswith("\n[] 0\n")
