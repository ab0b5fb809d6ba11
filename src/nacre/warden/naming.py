"""The name that `ps`, `pgrep` and `pkill` know this process by, instead of the interpreter's.

`pkill python` is meant for programs of the user, never for the processes that contain them.
"""

from __future__ import annotations

import ctypes
import os

from nacre.warden.children import stat_fields

# Fields of /proc/PID/stat, counted from the state: where the arguments begin and end in memory.
_ARG_START, _ARG_END = 45, 46

_place: tuple[int, int] | None = None


def find_arguments() -> None:
    """Look up where the arguments lie; a forked child finds its copy at the same place."""
    global _place
    fields = stat_fields(os.getpid())
    if len(fields) > _ARG_END and 0 < int(fields[_ARG_START]) < int(fields[_ARG_END]):
        _place = int(fields[_ARG_START]), int(fields[_ARG_END])


def rename(name: bytes) -> None:
    """Change the name of this process and the arguments that are shown of it; at most 15 bytes.

    Without effect where the system has no such thing.
    """
    try:
        fd = os.open("/proc/self/comm", os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        os.write(fd, name)
    except OSError:
        return
    finally:
        os.close(fd)
    if _place is not None and len(name) + 1 < _place[1] - _place[0]:
        start, end = _place
        ctypes.memmove(start, name + b"\0", len(name) + 1)
        # Where the last byte is not NUL, the kernel shows the arguments as one string up to its NUL.
        ctypes.memset(end - 1, 1, 1)
