"""What can happen to a call, and what its caller and the log are owed then, whatever the way in.

The expectations are those of docs/contracts.md; the promise or decision stands beside each.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

# How long `sleep` sleeps in a command that is meant to outlive its call or to be ended.
SLEEP_SECONDS = 1000
BEGUN = f"echo begun; touch ready; sleep {SLEEP_SECONDS}"
SIZES = ("durationMs", "stdoutBytes", "stderrBytes")


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """What the caller reads and the log keeps."""

    outcome: Literal["exited", "timedOut", "stopped", "notStarted"]
    exit_code: int | None = None
    is_error: bool = False
    notice: str | None = None
    """A regular expression for a notice of the answer and of the log, or for the error of a call that did not start."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Facts of the answer under the names of docs/statements.md."""
    logged: tuple[str, ...] = SIZES
    """Fields of the log's entry beside command, directory, contract and outcome."""
    output_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One row: how the fault is made, and what is owed."""

    promise: str
    command: str
    expects: Expectation
    expects_job: Expectation | None = None
    """The same for a way that was asked for a job, where that differs."""
    cwd: str | None = None
    timeout: int | None = None
    cancels: bool = False
    warden: str | None = None
    """A program in the place of the interpreter that starts the warden."""
    wants_job: bool = False
    """Whether only a call that wants a job can meet it."""
    in_the_way: str | None = None
    """A file of the state directory that stands where a directory is needed."""


UNCONTAINED = r"^containment is off \(.*\): a daemon started by the command may outlive a timeout$"
NO_WARDEN_NO_JOB = r"background jobs need the warden|warden"
NO_ROOM = r"1 job runs already \(setting jobs.max_jobs\): bg_1; stop one"

FAULTS: dict[str, Fault] = {
    "warden cannot be executed": Fault(
        promise="P12",
        command="echo hi",
        warden="not-a-program",
        expects=Expectation(outcome="exited", exit_code=0, notice=UNCONTAINED, output_bytes=3),
        expects_job=Expectation(outcome="notStarted", is_error=True, notice=NO_WARDEN_NO_JOB, logged=("error",)),
    ),
    "warden ends at once": Fault(
        promise="P12",
        command="echo hi",
        warden="/bin/false",
        expects=Expectation(outcome="exited", exit_code=0, notice=UNCONTAINED, output_bytes=3),
        expects_job=Expectation(outcome="notStarted", is_error=True, notice=NO_WARDEN_NO_JOB, logged=("error",)),
    ),
    "cancelled": Fault(
        promise="D6, D23",
        command=BEGUN,
        cancels=True,
        expects=Expectation(outcome="stopped", is_error=True, output_bytes=6),
    ),
    "timed out": Fault(
        promise="D6, D23, D38",
        command=BEGUN,
        timeout=1,
        expects=Expectation(outcome="timedOut", is_error=True, details={"timedOut": True}, output_bytes=6),
    ),
    "survivors": Fault(
        promise="P2, D10",
        # Until it has become sleep, the child of bash is another bash.
        command=f"sleep {SLEEP_SECONDS} & until grep -q ^sleep /proc/$!/cmdline; do :; done; echo begun",
        expects=Expectation(
            outcome="exited",
            exit_code=0,
            notice=rf"^still running: pid \d+ \(sleep {SLEEP_SECONDS}\)$",
            details={"survivors": [["sleep", str(SLEEP_SECONDS)]]},
            logged=(*SIZES, "survivors"),
            output_bytes=6,
        ),
    ),
    "artifact cannot be written": Fault(
        promise="P4, P12, D22",
        command="head -c 3000000 /dev/zero | tr '\\0' '\\n'",
        in_the_way="artifacts",
        expects=Expectation(
            outcome="exited", exit_code=0, notice=r"^the full output could not be kept: ", output_bytes=3_000_000
        ),
    ),
    "hidden pipe failure": Fault(
        promise="P6, D20",
        command="sh -c 'echo begun; exit 3' | cat",
        expects=Expectation(
            outcome="exited",
            exit_code=0,
            notice=r"^a pipe hides a failure: stage 1 exited with 3$",
            details={"stages": [3, 0]},
            output_bytes=6,
        ),
    ),
    "no room for a job": Fault(
        promise="D17, D23",
        # Outlives the window of a call that is to move to the background.
        command="sleep 1; echo hi",
        wants_job=True,
        expects=Expectation(
            outcome="exited",
            exit_code=0,
            notice=rf"^it could not go on in the background: {NO_ROOM}$",
        ),
        expects_job=Expectation(
            outcome="notStarted",
            is_error=True,
            notice=NO_ROOM,
            logged=("error",),
        ),
    ),
    "not started": Fault(
        promise="P6, D23",
        command="echo hi",
        cwd="missing",
        expects=Expectation(
            outcome="notStarted",
            is_error=True,
            notice=r"(?i)working directory.*(missing.*does not exist|does not exist.*missing)",
            logged=("error",),
        ),
    ),
}


@dataclass(frozen=True)
class Place:
    """Where a cell is played."""

    cwd: Path
    home: Path

    def prepare(self, fault: Fault) -> str | None:
        """Make the fault; the program that is to stand for the interpreter, if there is one."""
        if fault.in_the_way is not None:
            self.home.mkdir(parents=True, exist_ok=True)
            (self.home / fault.in_the_way).write_text("in the way", encoding="utf-8")
        if fault.warden == "not-a-program":
            # Executable, so that nothing but the attempt to run it finds out.
            program = self.cwd.parent / fault.warden
            program.write_bytes(b"\x7fELF but not one")
            program.chmod(0o755)
            return os.fspath(program)
        return fault.warden

    def directory(self, fault: Fault) -> Path:
        return self.cwd if fault.cwd is None else self.cwd / fault.cwd

    @property
    def ready(self) -> Path:
        """Made by a command that runs and is to be cancelled."""
        return self.cwd / "ready"


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What the caller of a way read."""

    outcome: str
    exit_code: int | None = None
    is_error: bool = False
    notices: tuple[str, ...] | None = None
    """None where the shape of the answer has no place for them."""
    details: Mapping[str, Any] | None = None
    """Likewise."""
    job_id: str | None = None


def told(pattern: str, notices: tuple[str, ...]) -> bool:
    return any(re.search(pattern, notice) for notice in notices)
