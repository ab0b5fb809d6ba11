"""What the minimiser saved and how often that was regretted, from the entries of the audit log. Pure.

A call is regretted when the same command runs again soon, or when the artifact of its raw text is opened: by a later
command that names it, or by a companion tool.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

# The same command again within so many seconds is taken as a wish to see more.
REGRET_SECONDS = 120
# Bytes of a token, as a rule of thumb; the log holds no text to count.
BYTES_PER_TOKEN = 4

_ARTIFACT = re.compile(r"artifact://(\d+)|artifacts/(\d+)\.")
_BEFORE = re.compile(r"^(?:cd\s+\S+\s*(?:&&|;)\s*|\w+=\S*\s+|sudo\s+|timeout\s+\S+\s+)+")
_SUBCOMMAND = re.compile(r"[a-z][\w:-]*$")


@dataclass(slots=True)
class Saving:
    """The calls of one command, filter or day."""

    calls: int = 0
    raw_bytes: int = 0
    shown_bytes: int = 0
    regrets: int = 0

    @property
    def tokens(self) -> int:
        return (self.raw_bytes - self.shown_bytes) // BYTES_PER_TOKEN

    @property
    def percent(self) -> float:
        return 100 * (1 - self.shown_bytes / self.raw_bytes) if self.raw_bytes else 0.0

    def json(self) -> dict[str, object]:
        return {
            "calls": self.calls,
            "rawBytes": self.raw_bytes,
            "shownBytes": self.shown_bytes,
            "tokensSaved": self.tokens,
            "regrets": self.regrets,
        }


@dataclass(slots=True)
class Savings:
    """Everything in the log, and its parts."""

    calls: int = 0
    """All calls, the shortened ones among them."""
    total: Saving = field(default_factory=Saving)
    by_command: dict[str, Saving] = field(default_factory=dict)
    by_filter: dict[str, Saving] = field(default_factory=dict)
    by_day: dict[str, Saving] = field(default_factory=dict)

    def parts(self) -> Mapping[str, Mapping[str, Saving]]:
        return {"command": self.by_command, "filter": self.by_filter, "day": self.by_day}


@dataclass(slots=True)
class _Shortened:
    """A shortened call that may yet be regretted."""

    time: float
    sums: tuple[Saving, ...]
    regretted: bool = False

    def regret(self) -> None:
        if not self.regretted:
            self.regretted = True
            for one in self.sums:
                one.regrets += 1


def count_savings(entries: Iterable[Mapping[str, Any]], opened: Collection[str] = ()) -> Savings:
    """Add up the entries of an audit log, oldest first; `opened` are the artifacts that a companion tool has opened."""
    found = Savings()
    last: dict[str, _Shortened] = {}
    by_artifact: dict[str, _Shortened] = {}
    for entry in entries:
        command, when = str(entry.get("command", "")), float(entry.get("time", 0))
        found.calls += 1
        before = last.get(command)
        if before is not None and when - before.time <= REGRET_SECONDS:
            before.regret()
        for artifact in map("".join, _ARTIFACT.findall(command)) if "artifact" in command else ():
            if artifact in by_artifact:
                by_artifact[artifact].regret()
        for minimized in (entry.get("minimized"), entry.get("minimizedStderr")):
            if isinstance(minimized, Mapping):
                last[command] = by_artifact[str(minimized["artifactId"])] = _added(found, command, when, minimized)
    for artifact in opened:
        if artifact in by_artifact:
            by_artifact[artifact].regret()
    return found


def _added(found: Savings, command: str, when: float, minimized: Mapping[str, Any]) -> _Shortened:
    sums = (
        found.total,
        found.by_command.setdefault(_spoken(command), Saving()),
        found.by_filter.setdefault(str(minimized["filter"]), Saving()),
        found.by_day.setdefault(time.strftime("%Y-%m-%d", time.localtime(when)), Saving()),
    )
    for one in sums:
        one.calls += 1
        one.raw_bytes += minimized["rawBytes"]
        one.shown_bytes += minimized["shownBytes"]
    return _Shortened(when, sums)


def _spoken(command: str) -> str:
    """The program of a command, with its subcommand: `git log`, `pytest`."""
    words = _BEFORE.sub("", command).split(maxsplit=2)
    name = words[0].rpartition("/")[2] if words else ""
    return f"{name} {words[1]}" if len(words) > 1 and _SUBCOMMAND.match(words[1]) else name
