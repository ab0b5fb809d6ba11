"""Sees the end of a shell that is somebody else's child: its runner need not be woken, and asked, for it."""

from __future__ import annotations

import os
import select
import signal

from nacre.warden.spare import wait_status

# How many descriptors it takes.
LOOKS = 3


class Look:
    """What a runner hands over of a shell: its state, the runner's children, the process itself."""

    __slots__ = ("_alone", "_children", "_end", "_handle", "_stat")

    def __init__(self, pid: int, stat: int, children: int, handle: int) -> None:
        self._stat = stat
        self._children = children
        self._handle = handle
        self._end = select.poll()
        self._end.register(handle, select.POLLIN)
        self._alone = b"%d " % pid

    def ends_within(self, milliseconds: float) -> bool:
        """Whether the shell has ended by then."""
        return bool(self._end.poll(milliseconds))

    def plain_code(self) -> int | None:
        """The exit code of a shell that has ended by itself and left nothing; None when there is more to say."""
        status = wait_status(self._stat)
        if status is None or os.pread(self._children, 64, 0) != self._alone:
            return None
        code = os.waitstatus_to_exitcode(status)
        # Killed, or one of its children was: its runner knows whether for want of memory.
        return None if code < 0 or code == 128 + signal.SIGKILL else code

    def close(self) -> None:
        for fd in (self._stat, self._children, self._handle):
            os.close(fd)
