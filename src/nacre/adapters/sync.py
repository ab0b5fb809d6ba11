"""A tool for frameworks that call it from any thread, without an event loop."""

from __future__ import annotations

import threading

from nacre import forks
from nacre.api import wait_for
from nacre.contracts.contract import Reply
from nacre.tool import Tool


class SyncTool:
    """Makes one call at a time, each in its own event loop, because a session serves one loop at a time."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool
        self._lock = threading.Lock()
        forks.hold(self)

    def drop(self, *, close: bool) -> None:
        """Replace the lock in a forked child, where the thread that holds it does not exist."""
        self._lock = threading.Lock()

    def call(self, arguments: object) -> Reply:
        with self._lock:
            return wait_for(lambda: self._tool.call(arguments))

    def close(self) -> None:
        with self._lock:
            wait_for(self._tool.aclose)
