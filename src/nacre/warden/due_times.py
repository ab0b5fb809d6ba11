"""What must be looked at, and when: only what is due costs work, however much waits."""

from __future__ import annotations

import heapq
from itertools import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Look = Callable[[float], "float | None"]


class DueTimes:
    """Looks by the time they are due. A look is given the time, and returns when it is due again, or None."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Look]] = []
        self._order = count()

    @property
    def first(self) -> float | None:
        return self._heap[0][0] if self._heap else None

    def add(self, at: float, look: Look) -> None:
        heapq.heappush(self._heap, (at, next(self._order), look))

    def look(self, now: float) -> None:
        """Do what is due; what is due again at once waits for the next time."""
        again: list[tuple[float, Look]] = []
        while self._heap and self._heap[0][0] <= now:
            _, _, look = heapq.heappop(self._heap)
            at = look(now)
            if at is not None:
                again.append((at, look))
        for at, look in again:
            self.add(at, look)
