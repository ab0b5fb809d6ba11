"""Backends around a backend: one that counts what ended inline, one under which nothing is waited for inline."""

from __future__ import annotations

import asyncio

from nacre.backend import Backend, Listener, Process
from nacre.backends.inline_wait import Ended, use_of
from nacre.command import Command, NewJob


class Counting:
    """Counts the commands that ended before `start` returned."""

    def __init__(self, inner: Backend) -> None:
        self._inner = inner
        self.notice = inner.notice
        self.keeps = inner.keeps
        self.inline = 0

    def start(self, command: Command, listener: Listener, *, job: NewJob | None = None) -> Process:
        process = self._inner.start(command, listener, job=job)
        self.inline += isinstance(process, Ended)
        return process


class Attended(Counting):
    """Starts commands as if other calls were in flight."""

    def start(self, command: Command, listener: Listener, *, job: NewJob | None = None) -> Process:
        loop = asyncio.get_running_loop()
        use = use_of(loop)
        use.calls += 2
        try:
            process = super().start(command, listener, job=job)
        finally:
            use.calls -= 2
        assert not self.inline
        return process
