"""A program of a session that runs on a terminal, until it ends: what is typed, what it shows, what is waited for.

The terminal is on the far side, held by a small program of ours (`terminal_relay.py`), so that what it shows comes the
way of any other output: redacted, counted and kept. The command is judged; what is typed into it is the program's.
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
# How far back from what is new an expression may begin.
SEARCHED_CHARACTERS = 64 * 1024
INTERRUPT = "\x03"


class Met(NamedTuple):
    """Something that was waited for has come."""

    before: str
    """What was shown until then, and not told yet."""
    pattern: str | None
    """Which expression it was; None for the end of the program."""


class Shown:
    """The newest text of an output, so much of it as was not taken yet."""

    def __init__(self, most_characters: int) -> None:
        self.fresh = asyncio.Event()
        """Set when there is more."""
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
        """All that was not taken."""
        return self._cut(len(self._text), len(self._text))

    def take_until(self, patterns: Sequence[re.Pattern[str]]) -> Met | None:
        """What comes before the first place that an expression describes; the place itself is taken too."""
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
        """Take the text up to `end`; what comes before `start`, and how much of it was too much."""
        before = f"[… {counted(self._dropped, 'character')} omitted …]\n" if self._dropped else ""
        before += self._text[:start]
        self._text, self._searched, self._dropped = self._text[end:], 0, 0
        return before


class TerminalProgram:
    """A command of a session on a terminal. It has the session's turn until it ends."""

    def __init__(self, session: Session, command: str, *, timeout: float, most_characters: int) -> None:
        self.command = command
        self._shown = Shown(most_characters)
        self._loop = asyncio.get_running_loop()
        self._unwritten = b""
        self._directory = tempfile.mkdtemp(prefix="nacre-terminal-")
        self._fifo = os.path.join(self._directory, "typed")
        os.mkfifo(self._fifo, 0o600)
        self._typing = os.open(self._fifo, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        # In a shell of its own: a terminal belongs to a session of processes, and whoever begins one must be new.
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
        """Whether it was ended before it ended by itself."""
        return self._run.cancelled()

    def type(self, text: str) -> None:
        """Type a text, as fast as it is read; what has ended is told nothing."""
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
        """Wait until it shows one of these, or ends; None when the time is up, and then nothing is taken."""
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
        """End it with everything that it started; returns what is unread."""
        self._run.cancel()
        await asyncio.wait([self._run])
        return self.unread()

    def unread(self) -> str:
        """What it showed and nobody has taken."""
        return self._shown.take()

    def result(self) -> ShellResult:
        """How it ended; raises what kept it from running."""
        return self._run.result()
