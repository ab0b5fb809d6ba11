"""A tool for frameworks that call it without an event loop, from whatever thread."""

from __future__ import annotations

import threading

from nacre import forks
from nacre.api import wait_for
from nacre.contracts.contract import Reply
from nacre.tool import Tool


class SyncTool:
    """One call at a time: each has an event loop of its own, and a session is used by one loop after another."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool
        self._lock = threading.Lock()
        forks.hold(self)

    def drop(self, *, close: bool) -> None:
        """In a fork the call of another thread, which holds the lock, does not go on."""
        self._lock = threading.Lock()

    def call(self, arguments: object) -> Reply:
        with self._lock:
            return wait_for(lambda: self._tool.call(arguments))

    def close(self) -> None:
        with self._lock:
            wait_for(self._tool.aclose)
