"""A result as the audit log has it: sizes and facts, never content."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from nacre.errors import DeniedError, InterceptedError
from nacre.output.redaction.redactor import Redactor
from nacre.result import Output, ShellResult


def outcome_word(outcome: object) -> str:
    """An outcome as data spells it: exited, signalled, timedOut, stopped, lost."""
    name = type(outcome).__name__
    return name[0].lower() + name[1:]


def entry_of(result: ShellResult) -> dict[str, Any]:
    """The facts of a result for the log: sizes, never content."""
    output, stderr = result.output, result.stderr
    entry: dict[str, Any] = {
        "outcome": outcome_word(result.outcome),
        "exitCode": result.exit_code,
        "durationMs": round(result.elapsed * 1000, 3),
        "stdoutBytes": output.total_bytes,
        "stderrBytes": None if stderr is None else stderr.total_bytes,
    }
    if result.survivors:
        entry["survivors"] = [{"pid": one.pid, "argv": list(one.argv)} for one in result.survivors]
    if result.notices:
        entry["notices"] = list(result.notices)
    artifacts = [one.artifact.id for one in (output, stderr) if one is not None and one.artifact is not None]
    if artifacts:
        entry["artifacts"] = artifacts
    return entry


def failure_of(error: BaseException, redactor: Redactor) -> dict[str, Any]:
    """Why a call has no result, for the log."""
    if isinstance(error, DeniedError):
        return {"outcome": "denied", "rule": error.rule}
    if isinstance(error, InterceptedError):
        return {"outcome": "denied", "rule": "interceptor", "tool": error.tool}
    if isinstance(error, asyncio.CancelledError):
        return {"outcome": "stopped"}
    return {"outcome": "notStarted", "error": redactor.redact_text(str(error))}


def hide_in(error: BaseException, redactor: Redactor) -> None:
    """Take hidden values out of an error: its text and its facts quote what the caller gave."""
    if not redactor:
        return
    error.args = tuple(redactor.redact_text(one) if isinstance(one, str) else one for one in error.args)
    for name, value in list(vars(error).items()):
        if isinstance(value, str):
            setattr(error, name, redactor.redact_text(value))


def measures(elapsed: float, outputs: Sequence[Output]) -> dict[str, Any]:
    """How long and how much; both streams through one pipe are counted as stdout."""
    return {
        "durationMs": round(elapsed * 1000, 3),
        "stdoutBytes": outputs[0].total_bytes,
        "stderrBytes": outputs[1].total_bytes if len(outputs) > 1 else None,
    }
