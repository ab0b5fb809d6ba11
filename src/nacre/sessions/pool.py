"""The sessions of one engine: each exclusive, few shells at a time, and none for those that are not used.

What is evicted is the shell. Its state is a few kilobytes and stays, so that a session that comes back finds it.
"""

from __future__ import annotations

import asyncio
import time

from nacre.sessions.session import Session
from nacre.sessions.snapshot import Snapshot

# States are kept for so many times more sessions than shells.
_STATES_PER_SHELL = 8


class Pool:
    """Sessions by their keys."""

    def __init__(self, *, most: int, idle_seconds: float, snapshot: bool = False) -> None:
        """With `snapshot`, every session begins with what the user's rc defines."""
        self._most = max(most, 1)
        self._idle_seconds = idle_seconds
        self._snapshot = Snapshot() if snapshot else None
        self._sessions: dict[str, Session] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def known(self, key: str) -> Session | None:
        return self._sessions.get(key)

    def session(self, key: str, *, cwd: str) -> Session:
        """The session of this key; a new one begins in `cwd`."""
        session = self._sessions.get(key)
        if session is None:
            session = self._sessions[key] = Session(cwd, snapshot=self._snapshot)
        if not session.alive:
            self._evict(key)
        self._watch()
        return session

    def end(self, key: str) -> None:
        """Forget a session; its shell ends with everything below."""
        session = self._sessions.pop(key, None)
        if session is not None:
            session.forget()

    def _evict(self, asked: str) -> None:
        """Keep to the bounds when one more is about to have a shell, beginning with what was not used for longest."""
        idle = sorted((one.used_at, key) for key, one in self._sessions.items() if key != asked and not one.busy)
        living = [key for _, key in idle if self._sessions[key].alive]
        for key in living[: max(0, len(living) - self._most + 1)]:
            self._sessions[key].close()
        for _, key in idle[: max(0, len(self._sessions) - self._most * _STATES_PER_SHELL)]:
            self.end(key)

    def _watch(self) -> None:
        """Look for idle ones when the first may be; a loop that ends takes its timer along."""
        loop = asyncio.get_running_loop()
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
            self._watch()

    def close(self) -> None:
        if self._timer is not None and self._loop is not None and not self._loop.is_closed():
            self._timer.cancel()
        self._timer = None
        for key in list(self._sessions):
            self.end(key)
