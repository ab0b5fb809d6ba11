"""The time a reading may take: every loop over the script ticks, and running over raises.

A guard that hangs is a guard that is switched off, so there is no unlimited reading.
"""

import time
from typing import Final

from nacre.bash.tree import UnreadableError

# The guard answers within one second for every script; the rest is for work that does not tick.
DEFAULT_SECONDS: Final = 0.75
# Asking the clock costs about 50 ns; a tick in between costs a third of that.
_TICKS_PER_LOOK: Final = 256


class TimeBudget:
    """Counts ticks and looks at the clock now and then."""

    __slots__ = ("_deadline", "_ticks")

    def __init__(self, seconds: float = DEFAULT_SECONDS) -> None:
        self._deadline = time.monotonic() + seconds
        self._ticks = 0

    def tick(self) -> None:
        self._ticks += 1
        if self._ticks % _TICKS_PER_LOOK == 0:
            self.look()

    def look(self) -> None:
        """Ask the clock now: after work on very many words at once."""
        if time.monotonic() > self._deadline:
            raise UnreadableError("the check took too long")
