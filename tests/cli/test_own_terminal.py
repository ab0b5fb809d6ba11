"""A person's terminal is given back as it was, also by a program that is killed and has no last word."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nacre.screen import open_screen

PATIENCE_SECONDS = 30.0
NACRE = (sys.executable, "-m", "nacre")
DRAWS = "printf '\\033[?1049h\\033[?25l\\033[?1003h\\033[?2004h\\033[?1hDRAWN'; sleep 1000"


class Place:
    """A terminal of 80 columns, as a person's: a test sees what it shows and how its lines are edited."""

    def __init__(self) -> None:
        self._person, self.program = pty.openpty()
        fcntl.ioctl(self.program, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.screen = open_screen(80, 24)

    @property
    def modes(self) -> list[object]:
        return termios.tcgetattr(self.program)

    def type(self, text: str) -> None:
        os.write(self._person, text.encode())

    def wait(self, wanted: str | list[object]) -> None:
        """Wait until a text is shown, or until the lines are edited as wanted."""
        end = time.monotonic() + PATIENCE_SECONDS
        while wanted not in "\n".join(self.screen.text()) if isinstance(wanted, str) else self.modes != wanted:
            assert time.monotonic() < end, "\n".join(self.screen.text())
            self.look(0.05)

    def look(self, seconds: float) -> None:
        while select.select([self._person], [], [], seconds)[0]:
            self.screen.feed(os.read(self._person, 65536))
            seconds = 0.0

    def close(self) -> None:
        os.close(self._person)
        os.close(self.program)


@contextmanager
def killed(place: Place, *arguments: str, shows: str) -> Iterator[subprocess.Popen[bytes]]:
    """A nacre in that terminal, which is killed when what it shows is seen."""
    streams = (place.program,) * 3
    command = [*NACRE, *arguments]
    with subprocess.Popen(
        command, stdin=streams[0], stdout=streams[1], stderr=streams[2], start_new_session=True
    ) as one:
        try:
            place.wait(shows)
            yield one
        finally:
            os.killpg(one.pid, signal.SIGKILL)


@pytest.fixture
def place() -> Iterator[Place]:
    pytest.importorskip("pyghostty", reason="needs an emulator")
    one = Place()
    yield one
    one.close()


@pytest.mark.parametrize(
    ("arguments", "shows"),
    [(["run", "--pty", "--", DRAWS], "DRAWN"), (["watch"], "0 running"), (["tui"], "F1 help")],
    ids=["run --pty", "watch", "tui"],
)
def test_a_killed_program_leaves_the_terminal_as_it_was(
    home: Path, place: Place, arguments: list[str], shows: str
) -> None:
    before, modes = place.modes, place.screen.modes
    with killed(place, *arguments, shows=shows):
        assert place.modes != before
        assert not place.screen.cursor.visible
    place.wait(before)
    _until_drawn(place)
    assert place.screen.modes == modes


def _until_drawn(place: Place) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not place.screen.cursor.visible:
        assert time.monotonic() < end
        place.look(0.05)


def test_a_prompt_of_the_plain_console_is_shown_again_when_it_is_killed(home: Path, place: Place) -> None:
    start = [*NACRE, "call", "workspace", '{"command": "read -rsp Word: x", "pty": true, "async": true}']
    subprocess.run(start, check=True, capture_output=True)
    before = place.modes
    try:
        with killed(place, "tui", "--plain", shows="Open questions:"):
            place.type("1\n")
            place.wait("recorded nowhere")
            assert place.modes != before
        place.wait(before)
    finally:
        subprocess.run([*NACRE, "jobs", "stop", "bg_1"], check=True, capture_output=True)


def test_a_program_that_set_its_own_modes_meanwhile_keeps_them(home: Path, place: Place) -> None:
    """A shell with a line editor may be quicker than what gives the terminal back."""
    with killed(place, "watch", shows="0 running"):
        own = termios.tcgetattr(place.program)
        own[3] |= termios.ECHO
        termios.tcsetattr(place.program, termios.TCSANOW, own)
    _until_drawn(place)
    assert place.modes == own
