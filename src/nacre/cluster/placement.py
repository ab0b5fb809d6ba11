"""Which node gets the next command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from nacre.errors import BackendUnavailableError, InvalidRequestError

# How long a node that does not answer may come back before its commands are reported as lost.
PATIENCE_SECONDS = 3.0
Placement = Literal["spread", "pack"]


class NodeLoads:
    """How many commands of this program run on each node, and the choice that follows."""

    def __init__(self, placement: Placement, most_on_one: int) -> None:
        if placement not in ("spread", "pack"):
            raise InvalidRequestError(f"placement {placement!r} is neither spread nor pack", field="placement")
        self.running: dict[str, int] = {}
        self._placement = placement
        self._most_on_one = most_on_one

    def choose(self, usable: Iterable[str], sessions: Iterable[str] = ()) -> str:
        """The node for the next command: the one with the fewest, or the fullest that has room.

        Args:
            sessions: the nodes of the sessions; for a new session these count as commands.

        Raises:
            BackendUnavailableError: no node is usable.
        """
        held = Counter(sessions)
        loads = {node: self.running[node] + held[node] for node in usable}
        order = sorted(loads, key=lambda node: (loads[node], node))
        if not order:
            raise BackendUnavailableError("every node of the cluster is gone")
        if self._placement == "spread":
            return order[0]
        fitting = [node for node in order if loads[node] < self._most_on_one]
        return max(fitting, key=lambda node: (loads[node], node)) if fitting else order[0]
