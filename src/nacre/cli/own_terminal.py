"""The terminal that nacre itself runs in, lent to a program: every key goes there, and what it writes is shown.

It is given back as it was, however that ends: modes of the line, and what the program has switched on and left so.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import termios
import tty
from collections.abc import Callable
from typing import Self

from nacre.cli.left_modes import LeftModes
from nacre.command import TerminalSize
from nacre.warden_client.terminal_watcher import TerminalWatcher

# What waits to be shown; more is asked for when there is less.
MOST_UNSHOWN_BYTES = 64 * 1024
READ_BYTES = 64 * 1024
# A terminal that takes nothing for so long is stopped.
STUCK_SECONDS = 2.0


def own_size() -> TerminalSize:
    """Return the size of the terminal that nacre runs in; the usual one where it runs in none."""
    for fd in (1, 0, 2):
        with contextlib.suppress(OSError):
            size = os.get_terminal_size(fd)
            if size.columns and size.lines:
                return TerminalSize(size.columns, size.lines)
    return TerminalSize()


class OwnTerminal:
    """Entered when the program runs; left when it is gone."""

    def __init__(self, *, typed: Callable[[bytes], None], resized: Callable[[TerminalSize], None]) -> None:
        self._typed = typed
        self._resized = resized
        self._before: list[object] | None = None
        self._screen = -1
        self._unshown = bytearray()
        self._taken = asyncio.Event()
        self._modes = LeftModes()
        self._keys = False
        self._watcher: TerminalWatcher | None = None

    def __enter__(self) -> Self:
        loop = asyncio.get_running_loop()
        # Opened anew: other processes that have the terminal open must not get its non-blocking mode.
        self._screen = os.open(os.ttyname(1), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        self._watcher = TerminalWatcher(0)
        self._before = termios.tcgetattr(0)
        tty.setraw(0, termios.TCSANOW)
        self._watcher.begin()
        self.read_keys(on=True)
        loop.add_signal_handler(signal.SIGWINCH, lambda: self._resized(own_size()))
        return self

    def __exit__(self, *_: object) -> None:
        loop = asyncio.get_running_loop()
        self.read_keys(on=False)
        loop.remove_signal_handler(signal.SIGWINCH)
        loop.remove_writer(self._screen)
        with contextlib.suppress(OSError):
            os.write(self._screen, self._modes.undo())
        os.close(self._screen)
        self._screen = -1
        # The terminal may be gone: then nothing of it is left to give back.
        with contextlib.suppress(termios.error):
            termios.tcsetattr(0, termios.TCSANOW, self._before)  # type: ignore[arg-type]
        if self._watcher is not None:
            self._watcher.close()

    def read_keys(self, *, on: bool) -> None:
        """Take keys, or leave them in the keyboard's buffer while the program reads none."""
        if on != self._keys:
            self._keys = on
            loop = asyncio.get_running_loop()
            if on:
                loop.add_reader(0, self._read)
            else:
                loop.remove_reader(0)

    def _read(self) -> None:
        try:
            data = os.read(0, READ_BYTES)
        except OSError:
            data = b""
        if data:
            self._typed(data)
        else:
            self.read_keys(on=False)  # hung up

    @property
    def room(self) -> bool:
        return len(self._unshown) < MOST_UNSHOWN_BYTES

    def show(self, data: bytes) -> None:
        self._modes.feed(data)
        if self._watcher is not None:
            self._watcher.keep(self._modes.undo())
        waits = bool(self._unshown)
        self._unshown += data
        if not waits:
            self._write()

    def _write(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._unshown:
                del self._unshown[: os.write(self._screen, self._unshown[:READ_BYTES])]
        except BlockingIOError:
            loop.add_writer(self._screen, self._write)
        except OSError:
            self._unshown.clear()  # the terminal is gone; a hang-up ends nacre
        if not self._unshown:
            loop.remove_writer(self._screen)
        self._taken.set()

    async def drained(self) -> bool:
        """Wait until everything is shown; False if the terminal takes nothing for a while."""
        while self._unshown:
            self._taken.clear()
            try:
                async with asyncio.timeout(STUCK_SECONDS):
                    await self._taken.wait()
            except TimeoutError:
                return False
        return True
