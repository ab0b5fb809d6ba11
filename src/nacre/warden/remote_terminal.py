"""Looks at the terminal of a call on another machine, and tells the near side what has changed."""

from __future__ import annotations

import termios

from nacre.warden import remote_protocol
from nacre.warden.terminal import BUSY_SECONDS, LOOK_SECONDS, SELDOM_SECONDS
from nacre.warden.terminal_look import look

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.remote_call import RemoteCall


def look_at_terminal(call: RemoteCall, now: float) -> float | None:
    """Look whether the program waits for input; when to look again, None when the terminal is closed."""
    if call.terminal not in call.streams:
        return None
    if call.link is not None:
        try:
            found = look(call.terminal).packed()
        except (OSError, termios.error):
            return now + SELDOM_SECONDS
        if found != call.looked:
            call.looked = found
            # What it wrote before it waited is told before that.
            call.drain(LOOK_SECONDS)
            call.say(remote_protocol.look(found))
    return now + (LOOK_SECONDS if now - call.active_at < BUSY_SECONDS else SELDOM_SECONDS)
