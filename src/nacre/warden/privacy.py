"""Makes this process unreadable to other processes of the same user: its environment, memory and descriptors.

Taking a secret out of a command's environment hides it; without this, the command could read it again from
`/proc/PID/environ` of the program that started it. Root reads everything all the same.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

PR_SET_DUMPABLE = 4

# Looked up once: a runner that inherits it has less to load, and less memory of its own.
_prctl: Callable[..., int] | None = None


def prctl(option: int, value: int | bytes) -> bool:
    """Ask the kernel to change something about this process; False where that cannot be asked."""
    global _prctl
    if _prctl is None:
        import ctypes

        try:
            _prctl = ctypes.CDLL(None, use_errno=True).prctl
        except (OSError, AttributeError):
            return False
    return int(_prctl(option, value, 0, 0, 0)) == 0


def become_unreadable() -> bool:
    """From now on; False where the system has no such thing."""
    return prctl(PR_SET_DUMPABLE, 0)
