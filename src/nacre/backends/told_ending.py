"""From what a runner tells about the end of a command to an Ending."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nacre.backend import Ending, Survivor
from nacre.warden.record import SIGNALLED


def ending_of(event: Mapping[str, Any]) -> Ending:
    """How a command ended, by the runner's event `exited`."""
    why = event["why"]
    signalled = None if why is None else SIGNALLED.get(why)
    return Ending(
        pid=event["pid"],
        code=event.get("code") if signalled is None else None,
        signal=event.get("signal") if signalled is None else None,
        why="timeout" if why == "timeout" else None if why is None or signalled is not None else "stop",
        forced=event["forced"],
        stages=tuple(event.get("stages", ())),
        refused=tuple(event.get("refused", ())),
        budget=event.get("budget"),
        out_of_memory=event.get("outOfMemory", False),
        left=event["left"],
        unkillable=tuple(survivor_of(entry) for entry in event.get("unkillable", ())),
        lost=signalled,
    )


def survivor_of(entry: Mapping[str, Any]) -> Survivor:
    return Survivor(entry["pid"], tuple(entry["argv"]), entry.get("state", ""))
