"""What sees the output of a run while it comes, without hidden values."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.engine.live import LiveTail

Passthrough = Callable[[int, memoryview], None]
"""Receives the output of a stream, by the stream's number."""


class Observers(NamedTuple):
    """The observers of one run."""

    live: LiveTail | None = None
    passthrough: Passthrough | None = None


NO_OBSERVERS = Observers()
