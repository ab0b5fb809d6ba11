"""The types of every message between the near and the far side.

For the type checker only: the far side never loads this module, nor `typing`. `protocol` builds the messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict


class JobSpec(TypedDict):
    """A job's directory and limits, and what its output must not show."""

    directory: str
    record: dict[str, Any]
    headBytes: int
    capBytes: int
    hidden: NotRequired[list[tuple[str, str]]]
    records: NotRequired[bool]
    """Present if its terminal is recorded."""
    refusals: NotRequired[str]
    """The file in which the proxy of its sandbox notes what it refuses."""
    held: NotRequired[str]
    """Output that the near side's redactor held back, as Latin-1."""


class Limits(TypedDict, total=False):
    """What a command may spend; absent is without a limit."""

    cpu: float
    memory: int
    processes: int
    file: int
    output: int
    """Of a job; the near side reads and counts the output of other commands."""


class Envelope(TypedDict, total=False):
    fds: int
    env: dict[str, str]
    """Missing where the receiver has this environment already."""


class Sandbox(TypedDict):
    """What a shell is confined to."""

    words: NotRequired[list[str]]
    """Bubblewrap and its options; the shell is placed in what it makes."""
    filter: str
    """The filter of system calls, as Latin-1; empty for none."""
    landlock: NotRequired[Landlock]
    hosts: NotRequired[list[tuple[str, int | None]]]
    """The hosts that the proxy of the sandbox connects to, and the file that it notes its refusals in."""
    refusals: NotRequired[str]
    temporary: NotRequired[str]
    """The directory that is /tmp inside, locked while it is used."""
    placeholders: NotRequired[list[tuple[str, list[str], list[str]]]]
    """Empty directories and files that are there while the sandbox is: behind the register of those in one place."""


class Landlock(TypedDict):
    """What Landlock leaves to a shell."""

    confines: bool
    """Whether files are confined at all."""
    writable: list[str]
    network: bool
    """Whether TCP is left to it."""


class Shell(Envelope):
    """What every start of a shell needs."""

    sandbox: NotRequired[Sandbox]
    overlay: NotRequired[list[str]]
    """The directory that the command sees through an overlay, and the one that its changes go to."""

    shell: str
    cwd: str
    namesCwd: bool
    outputs: int
    side: NotRequired[int]
    """The descriptor of a third stream, where there is one."""
    stdin: str | None
    terminal: NotRequired[bool]
    """Present if its streams are a terminal."""
    budget: NotRequired[Limits]


class Script(Shell):
    script: str
    bashEnv: str | None
    prologue: str
    stages: bool


class StartRun(Script):
    op: Literal["run"]
    timeout: float | None
    grace: float
    outlives: NotRequired[bool]
    """Present if the command goes on, within its limits, without its caller."""


class StartJob(Script):
    op: Literal["job"]
    timeout: float | None
    grace: float
    job: JobSpec
    attended: NotRequired[bool]
    """Present if it dies with its caller until `leave`: a call in the foreground waits for it."""


class WaitSpare(Shell):
    """Start a shell that waits for a script which is written over its `-c` string (see spare_shell.py)."""

    op: Literal["spare"]


class WaitSession(Script):
    """Start a shell that takes one script after another."""

    op: Literal["session"]


class Go(TypedDict):
    """A waiting shell was given a script `elapsed` seconds ago: these are its limits."""

    op: Literal["go"]
    timeout: float | None
    grace: float
    elapsed: float


class Stop(TypedDict):
    op: Literal["stop"]
    grace: float
    mark: NotRequired[int]
    """Stop what a turn has left and a keeper has by now, and not the shell; `cleared` answers."""


class Signal(TypedDict):
    op: Literal["signal"]
    number: int


class Keep(TypedDict):
    """Read the command's pipes from now on, whose ends come along; the last `aside` are read and thrown away."""

    op: Literal["keep"]
    fds: int
    aside: int
    grace: float
    job: JobSpec | None
    adopt: int | None
    """The survivor of a finished shell whose status is the job's."""
    apart: bool
    """Whether the shell of a session goes on without what its last turn has left."""


What = Literal["project", "stamp", "content", "appears"]


class Look(TypedDict):
    op: Literal["look"]
    fds: int
    what: What
    path: str


class Move(TypedDict):
    """Serve another caller, on the socket that comes along."""

    op: Literal["move"]
    fds: int


class Plain(Envelope):
    """Requests without arguments.

    The limits of a turn end; tell turns apart; name survivors; name the limit of its budget that a turn has reached;
    only fork a runner; a job goes on without its caller.
    """

    op: Literal["rest", "part", "survivors", "spent", "fork", "leave"]


Request = StartRun | StartJob | WaitSpare | WaitSession | Go | Stop | Signal | Keep | Look | Move | Plain


class Living(TypedDict):
    pid: int
    argv: list[str]
    state: NotRequired[str]


class Facts(TypedDict):
    """How a command ended."""

    pid: int
    why: str | None
    """Why it was stopped: timeout, budget, stop, caller gone, idle, runner killed, the name of a signal."""
    forced: bool
    code: NotRequired[int]
    signal: NotRequired[int]
    stages: NotRequired[list[int]]
    refused: NotRequired[list[str]]
    outOfMemory: NotRequired[bool]
    budget: NotRequired[str]
    """The limit of its budget that was reached."""
    unkillable: NotRequired[list[Living]]
    stays: NotRequired[bool]
    """Present if the runner has more to look after, and takes no other command."""


class ExitedEvent(Facts):
    event: Literal["exited"]
    left: bool


class Started(TypedDict):
    event: Literal["started"]
    pid: int


class KeptEvent(TypedDict):
    event: Literal["kept"]
    pid: int
    error: NotRequired[str]


class Survivors(TypedDict):
    event: Literal["survivors"]
    left: bool
    survivors: list[Living]
    stays: bool
    error: NotRequired[str]


class Parted(TypedDict):
    event: Literal["parted"]
    mark: int | None


class SpentEvent(TypedDict):
    event: Literal["spent"]
    budget: str | None


class Cleared(TypedDict):
    """A keeper that was to stop what it has is at its end."""

    event: Literal["cleared"]
    mark: int


class Failed(TypedDict):
    event: Literal["failed"]
    step: str
    errno: int | None
    reason: str


class SpareEvent(TypedDict):
    event: Literal["spare"]
    pid: int
    at: int
    notes: int


class Placed(TypedDict):
    """A session's shell runs in a sandbox, where it does not know its pids."""

    event: Literal["placed"]
    pid: int
    runner: int
    cell: list[int]


class Looked(TypedDict):
    event: Literal["looked"]
    found: str | int | None
    error: NotRequired[str]
    """Of a file whose content was asked for: `irregular` or `unreadable`."""


class Bye(TypedDict):
    event: Literal["bye"]


Event = (
    ExitedEvent
    | Started
    | KeptEvent
    | Survivors
    | Parted
    | SpentEvent
    | Cleared
    | Failed
    | SpareEvent
    | Placed
    | Looked
    | Bye
)
Message = Mapping[str, object]
