"""When a caller may wait a moment for a command's end, instead of leaving that to its event loop.

Half of all commands end at once. To attend one on the loop (watch its pipe and its runner, two or three turns, take the
watches away again) costs more than many of them take. So the start of a command that nobody else would notice waits a
moment: the loop has nothing else to do then, or does it so much later.
"""

from __future__ import annotations

import asyncio
import os

from nacre.backend import Listener
from nacre.backends.hub import HAS_EPOLL, is_busy, owes

# Most programs that end at once have ended by then; to whoever else uses the loop it is no time.
LINGER_MILLISECONDS = 4
# So many commands may end one after another without a turn of the loop.
TURN_EVERY = 8
# What a pipe holds, as nobody reads before the end.
_PIPE_BYTES = 65536

_waits = 0


async def may_linger(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether nobody is kept waiting by it: nothing runs that is attended on this loop, nothing is ready to go on."""
    global _waits
    if not HAS_EPOLL or is_busy(loop):
        return False
    _waits += 1
    if _waits % TURN_EVERY == 0 or owes(loop):
        await asyncio.sleep(0)
        if is_busy(loop):
            return False
    # What asyncio's own loops keep the callbacks in that are due; of another loop it is not known.
    return not getattr(loop, "_ready", None)


def read_whole(fd: int) -> tuple[bytes, bool]:
    """What is in the pipe of a shell that has ended, and whether nobody holds the other end any more."""
    data = b""
    try:
        while part := os.read(fd, _PIPE_BYTES):
            data = data + part if data else part
            if len(data) > _PIPE_BYTES:
                return data, False
    except BlockingIOError:
        return data, False
    return data, True


def read_all(fds: list[int]) -> tuple[tuple[bytes, ...], bool]:
    """The same of all its pipes."""
    outputs, whole = [], True
    for fd in fds:
        data, ended = read_whole(fd)
        outputs.append(data)
        whole = whole and ended
    return tuple(outputs), whole


def tell(listener: Listener, outputs: tuple[bytes, ...]) -> None:
    """What was read before anybody listened."""
    for stream, data in enumerate(outputs, start=1):
        if data:
            listener.output(stream, bytearray(data), len(data))
