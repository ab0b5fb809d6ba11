"""Waits a moment for a command's end on the caller's thread, where the event loop has nothing else to do.

Half of all commands end at once, and watching one on the loop costs more than many of them take. See
docs/decisions/inline-wait.md.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import weakref
from collections.abc import Sequence

from nacre.backend import Ending, Listener, PipesOnly, Survivor
from nacre.backends.pipes import PIPE_BYTES
from nacre.command import NewJob

# Most programs that end at once have ended by then, and no user of the loop notices the pause.
INLINE_MILLISECONDS = 4
# What a pipe holds as a rule.
_STEP_BYTES = 65536


class LoopUse:
    """What of ours uses an event loop."""

    __slots__ = ("blocked", "calls")

    def __init__(self) -> None:
        self.calls = 0
        """Calls that have begun and not ended, and commands that are attended."""
        self.blocked = False
        """True from an inline wait until the loop has had a turn."""

    def turned(self) -> None:
        self.blocked = False


_uses: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, LoopUse] = weakref.WeakKeyDictionary()


def use_of(loop: asyncio.AbstractEventLoop) -> LoopUse:
    """What of ours uses the loop now; a call adds itself to it for as long as it lasts."""
    use = _uses.get(loop)
    if use is None:
        use = _uses[loop] = LoopUse()
    return use


def can_block_briefly(loop: asyncio.AbstractEventLoop) -> bool:
    """True if the event loop has no other work of ours."""
    use = _uses.get(loop)
    if use is None:
        return True
    if use.calls > 1:
        return False
    if not use.blocked:
        use.blocked = True
        loop.call_soon(use.turned)
    return True


def tell_output(listener: Listener, fds: Sequence[int], *, streams: Sequence[int] = (1, 2)) -> bool:
    """Tell what is in these streams' pipes now, without waiting; True if no process holds their other ends."""
    whole = True
    for stream, fd in zip(streams, fds, strict=False):
        data, ended = bytearray(), False
        with contextlib.suppress(BlockingIOError):
            # No more than a pipe can hold: a process that is left may go on writing.
            while len(data) <= PIPE_BYTES and not ended:
                part = os.read(fd, _STEP_BYTES)
                data += part
                ended = not part
        if data:
            listener.output(stream, data, len(data))
        whole = whole and ended
    return whole


def tell_end(listener: Listener, outputs: int, ending: Ending) -> Ended:
    """Tell that so many outputs are closed and how the command ended."""
    for stream in range(1, outputs + 1):
        listener.closed(stream)
    listener.exited(ending)
    return ENDED


class Ended(PipesOnly):
    """The process of a command that ended before `start` returned: nothing is left to control."""

    def stop(self) -> None:
        return None

    def signal(self, number: int) -> None:
        return None

    async def survivors(self) -> tuple[Survivor, ...]:
        return ()

    def pause(self) -> None:
        return None

    async def keep(self, job: NewJob | None, *, adopt: int | None = None) -> None:
        return None

    def release(self) -> None:
        return None


ENDED = Ended()
