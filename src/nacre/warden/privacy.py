"""Makes this process unreadable to other processes of the same user: its environment, memory and descriptors.

Taking a secret out of a command's environment hides it; without this, the command could read it again from
`/proc/PID/environ` of whoever started it. Root reads everything all the same.
"""

from __future__ import annotations

PR_SET_DUMPABLE = 4


def become_unreadable() -> bool:
    """From now on; False where the system has no such thing."""
    import ctypes

    try:
        return int(ctypes.CDLL(None, use_errno=True).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)) == 0
    except (OSError, AttributeError):
        return False
