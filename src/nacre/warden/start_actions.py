"""What a forked child does before it is a shell, where posix_spawn does it for others."""

from __future__ import annotations

import functools
import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.launch import FileAction


def apply_actions(actions: list[FileAction]) -> None:
    """Arrange the descriptors of this process for the shell; raises OSError."""
    for action in actions:
        if len(action) == 5:
            _, fd, path, flags, mode = action
            os.dup2(os.open(path, flags, mode), fd)
        elif action[1] == action[2]:
            os.set_inheritable(action[1], True)  # noqa: FBT003 - positional in the library
        else:
            os.dup2(action[1], action[2])


@functools.cache
def ignored_signals() -> tuple[int, ...]:
    """What this process ignores (Python itself ignores SIGPIPE) and its child must not; it never changes."""
    return tuple(number for number in signal.valid_signals() if signal.getsignal(number) == signal.SIG_IGN)
