"""The time a reading may take: every loop over the script ticks, and running over raises.

A guard that hangs is a guard that is switched off, so there is no unlimited reading. What counts is processor time: on
a busy machine a short script waits for its turn, and is no harder to read for that.
"""

import time
from typing import Final

from nacre.bash.tree import UnreadableError

# The guard answers within one second for every script; the rest is for work that does not tick.
DEFAULT_SECONDS: Final = 0.75
# A caller waits no longer than this for a reading that gets no processor.
_MOST_WAIT_SECONDS: Final = 10.0
# Asking the clock costs about 50 ns; a tick in between costs a third of that.
_TICKS_PER_LOOK: Final = 256


class TimeBudget:
    """Counts ticks and looks at the clock now and then."""

    __slots__ = ("_began", "_deadline", "_seconds", "_ticks")

    def __init__(self, seconds: float = DEFAULT_SECONDS) -> None:
        self._seconds = seconds
        self._began = time.thread_time()
        self._deadline = time.monotonic() + seconds
        self._ticks = 0

    def tick(self) -> None:
        self._ticks += 1
        if self._ticks % _TICKS_PER_LOOK == 0:
            self.look()

    def look(self) -> None:
        """Ask the clock now: after work on very many words at once."""
        late = time.monotonic() - self._deadline
        # The clock of the thread is asked last, because it costs a system call.
        if late > 0 and (late > _MOST_WAIT_SECONDS or time.thread_time() - self._began > self._seconds):
            raise UnreadableError("the check took too long")
