"""A command in the words of the far side. Pure."""

from __future__ import annotations

from typing import Any

from nacre.backends.pipes import OUTPUTS
from nacre.command import SIDE_FD, Command, NewJob
from nacre.warden import protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.messages import Limits, StartJob, StartRun


def request_of(command: Command, *, job: NewJob | None = None, outlives: bool = False) -> StartRun | StartJob:
    """Return the request to start it; with `job` as a job."""
    request = protocol.run(
        script=command.script,
        shell=command.shell,
        cwd=command.cwd,
        names_cwd=command.names_cwd,
        bash_env=command.env.get("BASH_ENV"),
        prologue=command.prologue,
        stages=command.stages,
        outputs=OUTPUTS[command.streams],
        side=SIDE_FD if command.side else None,
        stdin=command.stdin,
        timeout=command.timeout,
        grace=command.grace,
        outlives=outlives,
        terminal=command.terminal is not None,
        budget=None if command.budget is None else limits_of(command),
    )
    if command.overlay is not None:
        request["overlay"] = list(command.overlay)
    if command.sandbox is not None and command.sandbox.message:
        request["sandbox"] = command.sandbox.message  # type: ignore[typeddict-item]
    if job is None:
        return request
    spec: Any = job.message()
    return protocol.start_job(request, spec, attended=job.attended)


def limits_of(command: Command) -> Limits | None:
    """Return what the far side holds the command to; None for nothing. Its time is a limit of its own."""
    budget = command.budget
    if budget is None:
        return None
    limits: Limits = {}
    if budget.cpu_seconds is not None:
        limits["cpu"] = budget.cpu_seconds
    if budget.memory_bytes is not None:
        limits["memory"] = int(budget.memory_bytes)
    if budget.processes is not None:
        limits["processes"] = int(budget.processes)
    if budget.file_bytes is not None:
        limits["file"] = int(budget.file_bytes)
    if budget.output_bytes is not None:
        limits["output"] = int(budget.output_bytes)
    return limits or None
