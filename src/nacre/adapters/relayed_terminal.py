"""Runs a program of a session on a terminal: types text, collects what it shows, waits for expected text.

A small program (`terminal_relay.py`) holds the terminal on the far side, so its output takes the usual path: redacted,
counted and kept. The guard judges the command, not the text that is typed into it.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nacre.api import Session
from nacre.command import SHELL
from nacre.request import ShellRequest
from nacre.result import ShellResult
from nacre.wording import counted

RELAY = Path(__file__).with_name("terminal_relay.py")
# A match may begin this far before the new text.
SEARCHED_CHARACTERS = 64 * 1024
INTERRUPT = "\x03"


class Met(NamedTuple):
    """The result of a wait."""

    before: str
    """The text before the match that was not taken yet."""
    pattern: str | None
    """The expression that matched; None for the end of the program."""


class Shown:
    """The newest text of an output that was not taken yet."""

    def __init__(self, most_characters: int) -> None:
        self.fresh = asyncio.Event()
        """Set when new text arrives."""
        self._most = most_characters
        self._text = ""
        self._searched = 0
        self._dropped = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def feed(self, _: int, data: memoryview) -> None:
        self._text += self._decoder.decode(data)
        if (over := len(self._text) - self._most) > 0:
            self._text = self._text[over:]
            self._searched = max(0, self._searched - over)
            self._dropped += over
        self.fresh.set()

    def take(self) -> str:
        """Take all text."""
        return self._cut(len(self._text), len(self._text))

    def take_until(self, patterns: Sequence[re.Pattern[str]]) -> Met | None:
        """Take the text before the first match of an expression, and the match; None without a match."""
        begin = max(0, self._searched - SEARCHED_CHARACTERS)
        found = [
            (match.start(), index, match.end())
            for index, pattern in enumerate(patterns)
            if (match := pattern.search(self._text, begin))
        ]
        if not found:
            self._searched = len(self._text)
            return None
        start, index, end = min(found)
        return Met(self._cut(start, end), patterns[index].pattern)

    def _cut(self, start: int, end: int) -> str:
        """Take the text up to `end`; return the part before `start`, and the count of dropped characters."""
        before = f"[… {counted(self._dropped, 'character')} omitted …]\n" if self._dropped else ""
        before += self._text[:start]
        self._text, self._searched, self._dropped = self._text[end:], 0, 0
        return before


class TerminalProgram:
    """A command of a session on a terminal; other commands of the session wait for its end."""

    def __init__(self, session: Session, command: str, *, timeout: float, most_characters: int) -> None:
        self.command = command
        self._shown = Shown(most_characters)
        self._loop = asyncio.get_running_loop()
        self._unwritten = b""
        self._directory = tempfile.mkdtemp(prefix="nacre-terminal-")
        self._fifo = os.path.join(self._directory, "typed")
        os.mkfifo(self._fifo, 0o600)
        self._typing = os.open(self._fifo, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        # In a new shell, because a controlling terminal needs a new session leader.
        words = [SHELL, "-c", command]
        request = ShellRequest(
            command=shlex.join(words),
            script=shlex.join([sys.executable, "-I", "-S", str(RELAY), self._fifo, *words]),
            timeout=timeout,
        )
        self._run = asyncio.create_task(session.run_request(request, passthrough=self._shown.feed))
        self._run.add_done_callback(self._ended)

    def _ended(self, _: object) -> None:
        self._loop.remove_writer(self._typing)
        os.close(self._typing)
        os.unlink(self._fifo)
        os.rmdir(self._directory)
        self._shown.fresh.set()

    @property
    def running(self) -> bool:
        return not self._run.done()

    @property
    def was_ended(self) -> bool:
        """True if the program was cancelled."""
        return self._run.cancelled()

    def type(self, text: str) -> None:
        """Type a text as fast as the program reads it; ignored after its end."""
        if self.running:
            self._unwritten += os.fsencode(text)
            self._write()

    def _write(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._unwritten = self._unwritten[os.write(self._typing, self._unwritten) :]
        if self._unwritten:
            self._loop.add_writer(self._typing, self._write)
        else:
            self._loop.remove_writer(self._typing)

    async def wait_for(self, patterns: Sequence[re.Pattern[str]], timeout: float | None) -> Met | None:
        """Wait until the program shows one of these or ends; on timeout return None and take nothing."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                while True:
                    self._shown.fresh.clear()
                    ended = not self.running
                    if (met := self._shown.take_until(patterns)) is not None:
                        return met
                    if ended:
                        return Met(self._shown.take(), None)
                    await self._shown.fresh.wait()
        return None

    async def end(self) -> str:
        """End the program with everything it started; return the unread text."""
        self._run.cancel()
        await asyncio.wait([self._run])
        return self.unread()

    def unread(self) -> str:
        """Take the text that was shown and not taken yet."""
        return self._shown.take()

    def result(self) -> ShellResult:
        """Return how the program ended; raises the error that kept it from running."""
        return self._run.result()
