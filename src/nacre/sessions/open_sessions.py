"""The sessions of one engine, by their keys: few shells at a time in a program, and none for idle sessions.

An evicted session loses its shell. Its state, a few kilobytes, stays, and the next command gets it back.
"""

from __future__ import annotations

import asyncio
import time
import weakref

from nacre.errors import NoEventLoopError
from nacre.sessions.live_bash import StartBash
from nacre.sessions.session import ShellSession

# How many sessions keep their state for each one that may have a shell.
_STATES_PER_SHELL = 8
# Of all engines: a shell costs a few megabytes.
_sessions: weakref.WeakSet[ShellSession] = weakref.WeakSet()


class OpenSessions:
    """Sessions by their keys."""

    def __init__(self, *, most: int, idle_seconds: float) -> None:
        self._most = max(most, 1)
        self._idle_seconds = idle_seconds
        self._sessions: dict[str, ShellSession] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def known(self, key: str) -> ShellSession | None:
        return self._sessions.get(key)

    def session(self, key: str, *, cwd: str, with_rc: bool = False, start: StartBash | None = None) -> ShellSession:
        """The session of this key; a new one begins in `cwd`, and if wanted with what the user's rc defines.

        `start` starts its shells, if they are not of this machine.
        """
        session = self._sessions.get(key)
        if session is None:
            session = self._sessions[key] = ShellSession(cwd, with_rc=with_rc, start=start)
            _sessions.add(session)
        if not session.alive:
            self._evict(session)
        self._schedule_sweep()
        return session

    def end(self, key: str) -> None:
        """Forget a session and end its shell with every process below it."""
        session = self._sessions.pop(key, None)
        if session is not None:
            session.forget()

    def _evict(self, asked: ShellSession) -> None:
        """Close the least recently used sessions when one more is about to start a shell."""
        idle = sorted((one for one in _sessions if one is not asked and not one.busy), key=lambda one: one.used_at)
        living = [one for one in idle if one.alive]
        for one in living[: max(0, len(living) - self._most + 1)]:
            one.close()
        if len(self._sessions) > self._most * _STATES_PER_SHELL:
            oldest = min(self._sessions.items(), key=lambda item: item[1].used_at)
            if not oldest[1].busy:
                self.end(oldest[0])

    def _schedule_sweep(self) -> None:
        """Schedule the next sweep; a loop that has ended took its timer along."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise NoEventLoopError from None
        if self._timer is None or self._loop is not loop:
            self._loop = loop
            self._timer = loop.call_later(self._idle_seconds, self._sweep)

    def _sweep(self) -> None:
        self._timer = None
        now = time.monotonic()
        for session in self._sessions.values():
            if not session.busy and now - session.used_at >= self._idle_seconds:
                session.close()
        if any(session.alive or session.busy for session in self._sessions.values()):
            self._schedule_sweep()

    def close(self) -> None:
        if self._timer is not None and self._loop is not None and not self._loop.is_closed():
            self._timer.cancel()
        self._timer = None
        for key in list(self._sessions):
            self.end(key)
