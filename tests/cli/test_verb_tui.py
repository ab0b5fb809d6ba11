"""`nacre tui` gives the terminal back however it ends, and says what it needs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from terminals.tmux import NACRE, Pane, Tmux


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    with Tmux(tmp_path) as server:
        yield server


# A console that fails while it is on the screen.
FAILING = """
import sys
from nacre.cli import main
from nacre.tui.application import NacreApp

def fail(self):
    raise RuntimeError("a fault of the console")

NacreApp.action_help = fail
sys.exit(main(["tui"]))
"""


def session(tmux: Tmux, place: Path, program: str) -> Pane:
    """A shell that runs the console and notes the modes of the terminal before and after."""
    (place / "failing.py").write_text(FAILING, encoding="utf-8")
    script = f"stty -a > before; sh -c 'echo $$ > pid; exec {program}'; echo $? > code; stty -a > after; echo all over"
    (place / "session").write_text(f"{script}\nexec cat\n", encoding="utf-8")
    pane = tmux.start("sh session", columns=90, rows=26, cwd=place)
    pane.wait_for("F1 help")
    return pane


@pytest.mark.parametrize(
    ("way", "code"), [("C-q", 0), ("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130), ("fault", 1)]
)
def test_the_terminal_is_left_clean_however_it_ends(tmux: Tmux, tmp_path: Path, way: str, code: int) -> None:
    program = f"{sys.executable} failing.py" if way == "fault" else f"{NACRE} tui"
    pane = session(tmux, tmp_path, program)
    assert (pane.fact("alternate_on"), pane.fact("mouse_any_flag")) == ("1", "1")
    # Ctrl+C stops a command of the person's, not the console.
    pane.send("C-c")
    pane.wait_for("Ctrl+Q ends the console")
    if way.startswith("SIG"):
        os.kill(int((tmp_path / "pid").read_text(encoding="utf-8")), getattr(signal, way))
    else:
        pane.send("F1" if way == "fault" else way)
    screen = pane.wait_for("all over")
    modes = [pane.fact(name) for name in ("alternate_on", "mouse_any_flag", "cursor_flag")]
    assert modes == ["0", "0", "1"]
    assert (tmp_path / "before").read_text(encoding="utf-8") == (tmp_path / "after").read_text(encoding="utf-8")
    assert int((tmp_path / "code").read_text(encoding="utf-8")) == code
    assert ("a fault of the console" in screen) == (way == "fault")


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
