"""What a backend is asked to start: every decision is made, nothing is looked up any more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.call_budget import Budget

SHELL = "/bin/bash"

# Above what bash and scripts use by themselves; see nacre.warden.launch.
SIDE_FD = 120

Streams = Literal["merged", "split"]


class SandboxSpec(NamedTuple):
    """What a shell is confined to, as its place of execution needs it. Commands share it, so no code changes it."""

    message: Mapping[str, Any]
    """As it goes over the socket (`nacre.warden.messages.Sandbox`)."""
    facts: Mapping[str, Any]
    """As results tell it: backend, version, access, network, writable, missing."""


class Overlay(NamedTuple):
    """The layers of a try: what the command changes below `lower` goes to `directory`."""

    lower: str
    directory: str


class TerminalSize(NamedTuple):
    """The size of a terminal in characters."""

    columns: int = 120
    rows: int = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A shell script and everything that decides how it runs."""

    script: str
    """The text that bash runs."""
    cwd: str
    """Absolute path of the directory it runs in."""
    env: Mapping[str, str]
    """The whole environment of the child. Calls share it, so no code changes it."""
    names_cwd: bool = True
    """Whether PWD is set to `cwd`, so that a path through symbolic links stays as it was given."""
    timeout: float | None
    """Seconds until it is stopped; None for no limit."""
    grace: float
    """Seconds between the polite end (TERM) and the certain one (KILL)."""
    streams: Streams = "merged"
    """One pipe for both streams in true order, or one for each."""
    prologue: str = ""
    """Text that the shell sources before the script."""
    stages: bool = False
    """Whether the stage codes of the last pipeline are wanted."""
    stdin: str | None = None
    """A fifo to read from, kept open; None is /dev/null."""
    side: bool = False
    """Whether the script writes to a third stream, `/dev/fd/SIDE_FD`."""
    shell: str = SHELL
    sandbox: SandboxSpec | None = None
    """What the shell is confined to; None for nothing."""
    overlay: Overlay | None = None
    """What the command runs on instead of the files themselves; None for nothing."""
    terminal: TerminalSize | None = None
    """The terminal that the command runs in; None gives it pipes."""
    budget: Budget | None = None
    """What it may spend; None is without limits."""

    @property
    def needs_place(self) -> bool:
        """Whether only nacre's warden can start it as it must run: in a sandbox, or on an overlay."""
        return self.overlay is not None or (self.sandbox is not None and bool(self.sandbox.message))


class NewJob(NamedTuple):
    """What the far side must know to keep a command as a job."""

    directory: str
    """Where the job's record and output are."""
    head_bytes: int
    """How many of the first bytes its output file keeps for good."""
    cap_bytes: int
    """The largest size of its output file."""
    hidden: tuple[tuple[str, bytes], ...]
    """Hidden values by variable name, in every form: they go over the socket, never to disk."""
    record: Mapping[str, Any]
    """The record as it begins."""
    held: bytes = b""
    """Output that was read already and may be the beginning of a hidden value."""
    attended: bool = False
    """Whether it dies with this program: a call in the foreground waits for it."""
    records: bool = False
    """Whether its terminal is recorded."""
    refusals: str = ""
    """The file in which the proxy of its sandbox notes what it refuses, if there is one."""

    def message(self) -> dict[str, Any]:
        """The job as it goes over the socket."""
        message = {
            "directory": self.directory,
            "headBytes": self.head_bytes,
            "capBytes": self.cap_bytes,
            "hidden": [(name, form.decode("latin-1")) for name, form in self.hidden],
            "record": dict(self.record),
            "held": self.held.decode("latin-1"),
        }
        if self.records:
            message["records"] = True
        if self.refusals:
            message["refusals"] = self.refusals
        return message
