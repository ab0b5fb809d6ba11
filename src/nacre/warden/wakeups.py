"""What the poll loops of runners share: the pipe that signals wake them by, and the time until a timer."""

from __future__ import annotations

import os
import time

# poll() counts milliseconds in 31 bits, about 24 days; a limit may be further away.
PATIENCE_SECONDS = 24 * 3600.0


def drain_wakeups(fd: int) -> None:
    try:
        while len(os.read(fd, 4096)) == 4096:
            pass
    except BlockingIOError:
        return


def milliseconds_until(*timers: float | None) -> float | None:
    """The time until the first of these, for poll(); None without any."""
    due = None
    for timer in timers:
        if timer is not None and (due is None or timer < due):
            due = timer
    if due is None:
        return None
    # One millisecond more, so that the loop does not spin just before a timer.
    return min(max(0.0, due - time.monotonic()), PATIENCE_SECONDS) * 1000 + 1
