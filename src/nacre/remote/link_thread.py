"""The thread whose event loop keeps links to other machines, for every event loop and thread of the program."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import contextlib
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from nacre import forks

T = TypeVar("T")
# How long the end of the program waits for links to be closed.
CLOSE_SECONDS = 3.0


class LinkThread:
    """Started with the first link; ended with the program. A forked child has none until it needs one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closing: list[Callable[[], Coroutine[Any, Any, None]]] = []
        forks.hold(self)

    def submit(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Do the work on the thread's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._started())

    def post(self, action: Callable[..., None], *arguments: Any) -> None:
        """Call a function on the thread's loop."""
        self._started().call_soon_threadsafe(action, *arguments)

    def at_end(self, close: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Have this done before the program ends."""
        self._closing.append(close)

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="nacre-links", daemon=True)
                self._thread.start()
                atexit.register(self.end)
            return self._loop

    def end(self) -> None:
        """Close every link and end the thread; the next link starts another."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
            closing, self._closing = self._closing, []
        if loop is None or thread is None:
            return
        atexit.unregister(self.end)

        async def close_all() -> None:
            await asyncio.gather(*(close() for close in closing))
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()

        # A link that does not close in time ends with the program.
        with contextlib.suppress(TimeoutError, concurrent.futures.TimeoutError):
            asyncio.run_coroutine_threadsafe(close_all(), loop).result(CLOSE_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(CLOSE_SECONDS)
        if not thread.is_alive():
            loop.close()

    def drop(self, *, close: bool) -> None:
        """Leave the links to the process that this one was forked from: the thread does not exist here."""
        self._lock = threading.Lock()
        self._loop = self._thread = None
        self._closing = []


links = LinkThread()
