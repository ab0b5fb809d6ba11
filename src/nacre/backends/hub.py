"""Watches many short-lived descriptors for an event loop through one long-lived one.

To add a descriptor to an asyncio loop and take it away again costs more than most of what happens in between. A loop
gets one epoll of ours for good; descriptors come and go there at the price of a system call. Where there is no epoll,
the loop is used as it is.
"""

from __future__ import annotations

import asyncio
import select
import weakref
from collections.abc import Callable

from nacre import forks

HAS_EPOLL = hasattr(select, "epoll")
# Events of one look; the rest are found at the next, at once.
EVENTS = 64


class Hub:
    """One loop's epoll and who is called for which descriptor."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._epoll = select.epoll()
        self._handlers: dict[int, Callable[[], None]] = {}
        self.owes = False
        loop.add_reader(self._epoll.fileno(), self._look)

    def watch(self, fd: int, handler: Callable[[], None]) -> None:
        self._epoll.register(fd, select.EPOLLIN)
        self._handlers[fd] = handler

    def unwatch(self, fd: int) -> None:
        if self._handlers.pop(fd, None) is not None:
            self._epoll.unregister(fd)

    def is_busy(self) -> bool:
        return bool(self._handlers)

    def do(self, work: Callable[[], None]) -> None:
        self.owes = False
        work()

    def _look(self) -> None:
        for fd, _ in self._epoll.poll(0, EVENTS):
            # One handler may have ended the watch of another.
            handler = self._handlers.get(fd)
            if handler is not None:
                handler()

    def close(self) -> None:
        self._epoll.close()


_hubs: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = weakref.WeakKeyDictionary()


def hub_of(loop: asyncio.AbstractEventLoop) -> Hub | None:
    """The loop's hub; None where there can be none."""
    hub = _hubs.get(loop)
    if hub is None and HAS_EPOLL:
        hub = _hubs[loop] = Hub(loop)
    return hub


def watch(loop: asyncio.AbstractEventLoop, fd: int, handler: Callable[[], None]) -> None:
    """Call the handler whenever the descriptor can be read."""
    hub = hub_of(loop)
    if hub is None:
        loop.add_reader(fd, handler)
    else:
        hub.watch(fd, handler)


def unwatch(loop: asyncio.AbstractEventLoop, fd: int) -> None:
    """End the watch; without one, nothing happens."""
    if not HAS_EPOLL:
        loop.remove_reader(fd)
        return
    hub = _hubs.get(loop)
    if hub is not None:
        hub.unwatch(fd)


def soon(loop: asyncio.AbstractEventLoop, work: Callable[[], None]) -> None:
    """Do the work at the loop's next turn, when whoever runs now has what it wanted."""
    hub = _hubs.get(loop)
    if hub is None:
        loop.call_soon(work)
    else:
        hub.owes = True
        loop.call_soon(hub.do, work)


def owes(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether work waits for its next turn."""
    hub = _hubs.get(loop)
    return hub is not None and hub.owes


def is_busy(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether anybody is attended on it."""
    hub = _hubs.get(loop)
    return hub is not None and hub.is_busy()


class _Leaving:
    """Leaves the hubs to the process that they belong to: an epoll is shared with a fork, and so are its watches."""

    def __init__(self) -> None:
        self._lost: list[Hub] = []
        forks.hold(self)

    def drop(self, *, close: bool) -> None:
        if close:
            for hub in _hubs.values():
                hub.close()
        else:
            # An epoll that is collected closes its number, which may be the host's: it is kept.
            self._lost += _hubs.values()
        _hubs.clear()


_leaving = _Leaving()


def forget_hubs() -> None:
    """Close what the hubs hold open; their loops must not be used for commands any more."""
    for loop, hub in list(_hubs.items()):
        if not loop.is_closed():
            loop.remove_reader(hub._epoll.fileno())
        hub.close()
    _hubs.clear()
