"""The budget of a call that has one: its output is counted as it is read, and a limit that was reached is named."""

from __future__ import annotations

from nacre.backend import Ending
from nacre.call_budget import Budget
from nacre.engine.run import Run, Sink
from nacre.output.sizes import human_size
from nacre.result import SIGNAL_BASE, Clock

# The number of SIGXFSZ, by which the kernel ends a process whose file grows too large.
_FILE_TOO_LARGE = 25

FIELDS: dict[str, Clock] = {
    "cpu": "cpu_seconds",
    "memory": "memory_bytes",
    "processes": "processes",
    "file": "file_bytes",
    "output": "output_bytes",
}
"""The field of a budget by the far side's name of the limit."""


class OutputMeter:
    """Passes output on, and stops a command that prints more than it may."""

    def __init__(self, run: Run, sink: Sink, most: int) -> None:
        self._run = run
        self._sink = sink
        self._left = most

    def feed(self, stream: int, buffer: bytearray, size: int) -> None:
        self._sink.feed(stream, buffer, size)
        self._left -= size
        if self._left < 0 and not self._run.overspent:
            self._run.overspent = True
            self._run.stop()


def with_budget(run: Run, ending: Ending) -> Ending:
    """Return the ending of a command with a budget, with the limit that was reached, if any was."""
    if ending.budget is not None:
        return ending
    if run.overspent:
        return ending._replace(budget="output")
    budget, code = run.command.budget, ending.code or 0
    died = ending.signal == _FILE_TOO_LARGE or code == SIGNAL_BASE + _FILE_TOO_LARGE
    if died and budget is not None and budget.file_bytes is not None:
        # The shell tells the death of a program by its exit code.
        return ending._replace(budget="file")
    return ending


def words_of(ending: Ending, budget: Budget) -> str | None:
    """Say which limit was reached; None if none was."""
    if ending.budget is None:
        return None
    value = getattr(budget, FIELDS[ending.budget])
    match ending.budget:
        case "cpu":
            what = f"{value:g} s of processor time"
        case "memory":
            what = f"{human_size(value)} of memory"
        case "processes":
            what = f"{int(value)} processes at once"
        case "file":
            what = f"files of {human_size(value)}"
        case _:
            what = f"{human_size(value)} of output"
    return f"budget used up: {what}"
