"""A few lines at the bottom of a terminal that are drawn again in place; above them text scrolls as it always does."""

from __future__ import annotations

import asyncio
import contextlib
import os
import termios
import tty
from collections.abc import Callable, Iterator
from typing import Self, TextIO

from nacre.warden_client.terminal_watcher import TerminalWatcher

_HIDE, _SHOW, _ERASE_RIGHT = "\x1b[?25l", "\x1b[?25h", "\x1b[K"


class LiveLines:
    """Draws on a terminal; leaves it with the cursor shown, below what was printed."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._shown: list[str] = []

    def __enter__(self) -> Self:
        self._write(_HIDE)
        return self

    def __exit__(self, *_: object) -> None:
        self._draw([])
        self._write(_SHOW)

    def show(self, lines: list[str]) -> None:
        """Draw these lines at the bottom, in place of those that are there; only as many as fit."""
        rows = self._rows()
        lines = lines[-max(1, rows - 1) :]
        if lines != self._shown:
            self._draw(lines)
            self._shown = lines

    def scroll(self, lines: list[str]) -> None:
        """Print lines that stay, above those at the bottom."""
        self._draw([*lines, *self._shown])

    def _draw(self, lines: list[str]) -> None:
        """Write lines over those at the bottom, line by line: some terminals keep what is erased as a whole."""
        over = max(0, len(self._shown) - len(lines))
        up = f"\x1b[{len(self._shown)}A" if self._shown else ""
        back = f"\x1b[{over}A" if over else ""
        written = "".join(f"{line}{_ERASE_RIGHT}\r\n" for line in [*lines, *[""] * over])
        self._write(f"\r{up}{written}{back}")

    def _rows(self) -> int:
        try:
            return os.get_terminal_size(self._out.fileno()).lines or 24
        except OSError:
            return 24

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


@contextlib.contextmanager
def plain_keys(terminal: TextIO, pressed: Callable[[str], None]) -> Iterator[None]:
    """Give single keys while this lasts, and the terminal as it was afterwards; Ctrl-C stays an interrupt."""
    if not terminal.isatty():
        yield
        return
    fd = terminal.fileno()
    watcher = TerminalWatcher(fd)
    before = termios.tcgetattr(fd)
    loop = asyncio.get_running_loop()

    def read() -> None:
        data = os.read(fd, 64)
        if not data:
            loop.remove_reader(fd)
        for key in data.decode("utf-8", "replace"):
            pressed(key)

    try:
        tty.setcbreak(fd, termios.TCSANOW)
        watcher.begin(_SHOW.encode("ascii"))
        loop.add_reader(fd, read)
        yield
    finally:
        loop.remove_reader(fd)
        termios.tcsetattr(fd, termios.TCSANOW, before)
        watcher.close()
