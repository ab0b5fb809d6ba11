"""The sessions of one engine: each exclusive, few shells at a time, and none for those that are not used.

What is evicted is the shell. Its state is a few kilobytes and stays, so that a session that comes back finds it.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict

from nacre.sessions.session import Session
from nacre.sessions.snapshot import Snapshot

# States are kept for so many times more sessions than shells.
_STATES_PER_SHELL = 8


class Pool:
    """Sessions by their keys, the least recently used first."""

    def __init__(self, *, most: int, idle_seconds: float, snapshot: bool = False) -> None:
        """With `snapshot`, every session begins with what the user's rc defines."""
        self._most = max(most, 1)
        self._idle_seconds = idle_seconds
        self._snapshot = Snapshot() if snapshot else None
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def known(self, key: str) -> Session | None:
        return self._sessions.get(key)

    def session(self, key: str, *, cwd: str) -> Session:
        """The session of this key; a new one begins in `cwd`."""
        session = self._sessions.get(key)
        if session is None:
            session = self._sessions[key] = Session(cwd, snapshot=self._snapshot)
        self._sessions.move_to_end(key)
        if len(self._sessions) > 1:
            self._evict()
        self._watch()
        return session

    def end(self, key: str) -> None:
        """Forget a session; its shell ends with everything below."""
        session = self._sessions.pop(key, None)
        if session is not None:
            session.forget()

    def _evict(self) -> None:
        idle = [session for session in self._sessions.values() if not session.busy]
        living = [session for session in idle if session.alive]
        # The one that is asked for now is the newest, and about to be used.
        for session in living[: max(0, len(living) - self._most)]:
            session.close()
        while len(self._sessions) > self._most * _STATES_PER_SHELL:
            key, oldest = next(iter(self._sessions.items()))
            if oldest.busy:
                return
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
