"""A command that its call leaves running: the answer that a caller has in place of a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple


class Waiting(NamedTuple):
    """What a command on a terminal asks for."""

    prompt: str
    hidden: bool
    """Whether what is typed is not shown: a password."""

    def details(self) -> dict[str, Any]:
        return {"prompt": self.prompt, "hidden": self.hidden}


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """A command that was started and is kept as a job."""

    job_id: str
    pid: int
    output_file: str
    preview: str = ""
    """The newest output so far."""
    why: Literal["asked", "window", "event", "waiting", "detached"] = "asked"
    """What made it a job: the caller, the end of the wait, the event, a wait for input, or a person at the console."""
    waiting_for: Waiting | None = None
    """The input that it waits for, if it does."""
    event: str | None = None
    """What has happened, where that was waited for."""
    outcome: str | None = None
    """How it ended, where it has done so before the call came back; its output is then the preview."""
    exit_code: int | None = None
    """Its exit code, likewise."""
    sandbox: Mapping[str, Any] | None = None
    """What it is confined to, where a sandbox was asked for."""
    label: str = ""
    elapsed: float = 0.0
    timeout: float | None = None
    requested_timeout: float | None = None
    notices: tuple[str, ...] = ()
