"""The one seam of execution: a backend starts a command, events come up, a few controls go down.

Pipes, terminals, sessions, remote hosts are all just sources of these events; nothing above knows which. `exited` and
`closed` are different events: a shell can be gone while something else holds its pipe.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from nacre.command import Command, NewJob
from nacre.errors import BackendError, NacreError, StartError

# The number of the third stream, which some scripts are given beside stdout (1) and stderr (2).
SIDE = 3


@dataclass(frozen=True, slots=True)
class Survivor:
    """A process of the command that is alive although its shell has ended."""

    pid: int
    argv: tuple[str, ...]
    state: str = ""
    """The one-letter state of /proc, where it explains why the process is still there."""


class Ending(NamedTuple):
    """How a command ended, as facts."""

    pid: int | None
    code: int | None = None
    """The exit code, when the shell exited."""
    signal: int | None = None
    """The signal, when the shell was killed by one."""
    why: Literal["timeout", "stop"] | None = None
    """Why it was stopped, if it was."""
    forced: bool = False
    """Whether the polite end was not enough."""
    stages: tuple[int, ...] = ()
    """Exit codes of the stages of the last pipeline, where they were asked for and could be had."""
    budget: str | None = None
    """The limit of its budget that was reached: cpu, memory, processes, file or output."""
    out_of_memory: bool = False
    """Whether the kernel killed for want of memory meanwhile."""
    refused: tuple[str, ...] = ()
    """Paths that the run-time guard kept from being removed."""
    left: bool = False
    """Whether other processes of the command were alive when the shell ended."""
    unkillable: tuple[Survivor, ...] = ()
    """What could not even be killed."""
    lost: str | None = None
    """Why the status is unknown, if it is."""
    notices: tuple[str, ...] = ()
    """What else the reader should know that only the place of execution can tell."""


class Listener(Protocol):
    """Told what happens to a command; called on the event loop's thread, in order, maybe before `start` returns."""

    def output(self, stream: int, buffer: bytearray, size: int) -> None:
        """The first `size` bytes of the buffer were read from stream 1, 2 or 3; the buffer is reused afterwards."""

    def closed(self, stream: int) -> None:
        """No process holds the writing end of that stream any more."""

    def started(self, pid: int) -> None:
        """The shell runs under this pid. May come late, or not at all for a short command."""

    def exited(self, ending: Ending) -> None:
        """The shell has ended, or all of it was stopped."""

    def failed(self, error: NacreError) -> None:
        """Nothing was started."""


class Process(Protocol):
    """A started command."""

    def stop(self) -> None:
        """Begin the stop ladder; `exited` follows when all is gone, or cannot be killed."""

    def signal(self, number: int) -> None:
        """Send a signal to the command's process group."""

    def write(self, data: bytes) -> None:
        """Type into the command's terminal; raises BackendError where it has none."""

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the command's terminal; raises BackendError where it has none."""

    async def survivors(self) -> tuple[Survivor, ...]:
        """What is still alive after the shell's exit."""

    def pause(self) -> None:
        """Stop reading its output."""

    async def keep(self, job: NewJob | None, *, adopt: int | None = None) -> None:
        """Hand the reading of the pipes to the far side: into a job's file, or away (None).

        With `adopt` the job is that survivor of a finished shell. `exited` is told again when the job has ended.

        Raises:
            BackendError: it could not be kept, and is being stopped.
        """

    def release(self) -> None:
        """Give back every descriptor; idempotent."""


class AttendedProcess(Process, Protocol):
    """A job that a call in the foreground waits for."""

    def leave_running(self) -> None:
        """Have it go on without this program."""


class Backend(Protocol):
    """A place where commands run.

    One on another machine also has `environ`, the variables of a login there, and `cwd`, where commands begin.
    """

    notice: str | None
    """What this backend cannot promise, said in every result; None when all promises hold."""
    keeps: bool
    """Whether a command can be kept as a job and may have a third stream."""

    def start(self, command: Command, listener: Listener, *, job: NewJob | None = None) -> Process:
        """Start the command; raise a NacreError when that is known to be impossible at once.

        A command that ends at once may have ended before this returns; the listener was told everything by then.
        With `job` the command is kept from its first byte on: the far side reads its output into the job's file.
        """


class PipesOnly:
    """The terminal controls of a process that has pipes: each is refused."""

    def write(self, data: bytes) -> None:
        raise pipes_only()

    def resize(self, columns: int, rows: int) -> None:
        raise pipes_only()


def pipes_only() -> BackendError:
    """Why nothing can be typed into a command, and it has no size."""
    return BackendError("the command has no terminal, so nothing can be typed into it, and it has no size")


def terminal_gone() -> BackendError:
    """Why nothing can be typed into a terminal that no process has open."""
    return BackendError("the command's terminal is closed; nothing reads it any more")


def no_terminal() -> StartError:
    """Why a backend without terminals does not start a command that wants one."""
    return StartError("commands cannot be given a terminal here; run it without one")
