"""How this system tells of a child's end: the one place that knows whether there are pidfds.

With pidfds the event loop watches a descriptor; without (macOS, old kernels) a thread waits. Either way the caller is
called back once, on its own loop.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable

HAS_PIDFD = hasattr(os, "pidfd_open")


def watch_exit(
    loop: asyncio.AbstractEventLoop,
    pid: int,
    ended: Callable[[], None],
    *,
    use_pidfd: bool = HAS_PIDFD,
) -> Callable[[], None]:
    """Call `ended` when the child can be reaped; returns what gives the watch up again."""
    if use_pidfd:
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            # The host program collected our child before we could look.
            loop.call_soon(ended)
            return lambda: None
        return _watch_pidfd(loop, handle, ended)
    return _watch_thread(loop, pid, ended)


def _watch_pidfd(loop: asyncio.AbstractEventLoop, handle: int, ended: Callable[[], None]) -> Callable[[], None]:
    closed = False
    owner = os.getpid()

    def give_up() -> None:
        nonlocal closed
        if not closed:
            closed = True
            # A fork shares the loop's selector with its parent, which still watches.
            if os.getpid() == owner:
                loop.remove_reader(handle)
            os.close(handle)

    def readable() -> None:
        give_up()
        ended()

    loop.add_reader(handle, readable)
    return give_up


def _watch_thread(loop: asyncio.AbstractEventLoop, pid: int, ended: Callable[[], None]) -> Callable[[], None]:
    wanted = threading.Event()
    wanted.set()

    def wait() -> None:
        try:
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        except ChildProcessError:
            pass  # the host collected it: the caller finds out when it asks for the status
        if wanted.is_set():
            try:
                loop.call_soon_threadsafe(ended)
            except RuntimeError:
                return  # the loop was closed meanwhile, and with it every wait

    threading.Thread(target=wait, name=f"nacre-wait-{pid}", daemon=True).start()
    return wanted.clear
