"""The name that `ps`, `pgrep` and `pkill` know this process by, instead of the interpreter's.

`pkill python` is meant for programs of the user, never for the processes that contain them.
"""

from __future__ import annotations

import ctypes
import os

from nacre.warden.children import stat_fields
from nacre.warden.privacy import prctl

PR_SET_NAME = 15
# Fields of /proc/PID/stat, counted from the state: where the arguments begin and end in memory.
_ARG_START, _ARG_END = 45, 46

_arguments: ctypes.Array[ctypes.c_char] | None = None


def find_arguments() -> None:
    """Look up where the arguments lie; a forked child finds its copy at the same place."""
    global _arguments
    fields = stat_fields(os.getpid())
    if len(fields) > _ARG_END and 0 < int(fields[_ARG_START]) < int(fields[_ARG_END]):
        start, end = int(fields[_ARG_START]), int(fields[_ARG_END])
        _arguments = (ctypes.c_char * (end - start)).from_address(start)
        # Where the last byte is not NUL, the kernel shows the arguments as one string up to its NUL.
        _arguments[-1] = b"\1"


def rename(name: bytes) -> None:
    """Change the name of this process and the arguments that are shown of it; at most 15 bytes.

    Without effect where the system has no such thing.
    """
    prctl(PR_SET_NAME, name)
    if _arguments is not None and len(name) + 1 < len(_arguments):
        # An assignment and not ctypes.memmove: its call takes 60 KB of memory in every runner.
        _arguments.raw = name + b"\0"
