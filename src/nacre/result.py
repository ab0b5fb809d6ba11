"""What a command came to: frozen values, one for each way to end.

A ShellResult exists exactly when a process was started. There is no exit code -1: what is unknown is `Lost`.
"""

from __future__ import annotations

import signal as _signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Self

from nacre.backend import Survivor
from nacre.errors import CommandFailedError

# What the shell reports for a death by signal n.
SIGNAL_BASE = 128


def signal_name(number: int) -> str:
    """SIGKILL for 9; a number without a name stays a number."""
    try:
        return _signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def signal_number(name: str) -> int | None:
    """9 for SIGKILL, KILL or 9; None for what is no signal here."""
    if name.isdigit():
        return int(name)
    found = _signal.Signals.__members__.get(name if name.startswith("SIG") else f"SIG{name}")
    return None if found is None else int(found)


@dataclass(frozen=True, slots=True)
class Exited:
    """The shell exited by itself."""

    code: int


@dataclass(frozen=True, slots=True)
class Signalled:
    """The shell was killed by a signal that nacre did not send."""

    number: int

    @property
    def name(self) -> str:
        return signal_name(self.number)


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The limit was reached and everything was ended."""

    limit: float
    ended_by: Literal["SIGTERM", "SIGKILL"]


@dataclass(frozen=True, slots=True)
class Stopped:
    """It was ended on request."""

    by: str


@dataclass(frozen=True, slots=True)
class Lost:
    """How it ended is not known."""

    reason: str


Outcome = Exited | Signalled | TimedOut | Stopped | Lost


Cause = Literal["command", "limit", "guard", "infra"]
"""Whose doing an end is: the command's own, a limit's, the guard's, or that of what runs commands."""
Clock = Literal[
    "timeout",
    "wall_seconds",
    "cpu_seconds",
    "memory_bytes",
    "processes",
    "file_bytes",
    "output_bytes",
    "memory",
    "stop",
]
"""The limit that was reached: the call's timeout, one of its budget, the machine's memory, or its caller's request."""


@dataclass(frozen=True, slots=True)
class ArtifactRef:
    """Where the full output is kept."""

    id: int
    path: str
    bytes: int
    """How many bytes of the output it holds."""
    dropped_bytes: int = 0
    """How many bytes of the middle were over its cap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncation:
    """What is not shown."""

    kept: Literal["head", "tail", "both"]
    omitted_bytes: int
    omitted_lines: int
    head_lines: int = 0
    """Whole lines shown from the beginning, where the view is made of lines."""
    tail_lines: int = 0
    """Whole lines shown from the end, likewise."""
    skipped_lines: int = 0
    """Lines left out before the head: the caller wanted the end of a beginning."""
    by: Literal["lines", "bytes"] = "bytes"
    """What was reached: the lines that the caller wanted, or the most bytes that are shown."""
    limit_bytes: int | None = None
    """The most bytes that are shown, where that is a setting."""
    head_characters: int = 0
    """Where in the text the left-out part belongs, when the view did not mark the place itself."""


class Minimized(NamedTuple):
    """How the minimiser shortened an output; the artifact holds all of it."""

    filter: str
    """The filters that shortened it."""
    raw_bytes: int
    shown_bytes: int
    artifact_id: int

    def json(self) -> dict[str, object]:
        """As data spells it."""
        return {
            "filter": self.filter,
            "rawBytes": self.raw_bytes,
            "shownBytes": self.shown_bytes,
            "artifactId": str(self.artifact_id),
        }


class Tried(NamedTuple):
    """What a command changed on an overlay, where it waits to be committed or discarded."""

    id: str
    added: int
    modified: int
    deleted: int
    artifact_id: int | None = None
    """The whole list, where the answer has no room for it."""

    def json(self) -> dict[str, object]:
        """As data spells it."""
        whole = {} if self.artifact_id is None else {"artifactId": str(self.artifact_id)}
        return {"id": self.id, "added": self.added, "modified": self.modified, "deleted": self.deleted, **whole}


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One captured stream."""

    text: str
    total_bytes: int
    total_lines: int
    truncation: Truncation | None = None
    capped_lines: int = 0
    """Lines shown that were too long and were cut."""
    line_bytes: int | None = None
    """What they were cut to, where that is a setting."""
    redraws: int = 0
    """Earlier states of redrawn lines (progress bars) that are not shown."""
    artifact: ArtifactRef | None = None
    minimized: Minimized | None = None
    """How it was shortened, where it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellResult:
    """A command that was started, and its end."""

    command: str
    outcome: Outcome
    output: Output
    """Both streams in true order, or stdout alone when the streams were captured apart."""
    stderr: Output | None = None
    """The error stream, when the streams were captured apart."""
    cwd: str
    started_at: float
    """Wall-clock time, for people."""
    elapsed: float
    """Seconds on the monotonic clock."""
    timeout: float | None = None
    """The limit in force, in seconds."""
    requested_timeout: float | None = None
    """What was asked for, where it was clamped."""
    clock: Clock | None = None
    """The limit that was reached, if one was."""
    stages: tuple[int, ...] = ()
    survivors: tuple[Survivor, ...] = ()
    adopted: str | None = None
    """The job that the survivors were made, where the contract does that."""
    tried: Tried | None = None
    """What it changed, where it ran on an overlay."""
    sandbox: Mapping[str, Any] | None = None
    """What it was confined to, where a sandbox was asked for: backend, version, access, network, writable, missing."""
    terminal_id: str | None = None
    """The client's terminal that it ran in, where it ran in one."""
    recording: int | None = None
    """The artifact that has what its terminal showed, an asciicast."""
    remote: bool = False
    """Whether it ran on another machine; then `cause` and `clock` are in all data about it."""
    notices: tuple[str, ...] = field(default=())

    @property
    def ok(self) -> bool:
        return self.outcome == Exited(0)

    @property
    def cause(self) -> Cause:
        """Whose doing the end is."""
        if isinstance(self.outcome, Lost):
            return "infra"
        return "command" if self.clock is None or self.ok else "limit"

    @property
    def exit_code(self) -> int | None:
        """The code as a shell would report it (128+n for a signal); None when there is none."""
        match self.outcome:
            case Exited(code):
                return code
            case Signalled(number):
                return SIGNAL_BASE + number
            case _:
                return None

    @property
    def text(self) -> str:
        return self.output.text

    @property
    def artifact(self) -> ArtifactRef | None:
        return self.output.artifact

    def check(self) -> Self:
        """Return the result of a command that succeeded; raise CommandFailedError for any other end."""
        if self.ok:
            return self
        raise CommandFailedError(f"{self.command!r} ended with {self.outcome!r}", result=self)

    def __repr__(self) -> str:
        return f"<ShellResult {self.outcome!r} {self.output.total_bytes} bytes in {self.elapsed:.3f}s>"
