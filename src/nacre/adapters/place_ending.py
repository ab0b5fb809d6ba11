"""Why a command of an evaluation has no exit code, so that it is no zero for the model: cause and clock of D38."""

from __future__ import annotations

from nacre.result import Lost, ShellResult, Stopped, TimedOut


class NoExitCode(Exception):
    """A command that a limit or the place has ended: `cause` says which, `clock` names the limit."""

    def __init__(self, message: str, *, cause: str, clock: str | None) -> None:
        super().__init__(f"{message} [cause: {cause}{f', clock: {clock}' if clock else ''}]")
        self.cause = cause
        self.clock = clock


def exit_code_of(result: ShellResult) -> int:
    """The exit code, 128+n for a signal.

    Raises:
        NoExitCode: a limit was reached, or the place was lost.
    """
    match result.outcome:
        case TimedOut(limit):
            said = f"Command timed out after {limit:g} seconds and was ended with all its processes"
        case Stopped(by):
            said = f"Command was ended with all its processes: {by}"
        case Lost(reason):
            said = f"how the command ended is not known: {reason}"
        case _:
            assert result.exit_code is not None
            return result.exit_code
    raise NoExitCode(said, cause=result.cause, clock=result.clock)
