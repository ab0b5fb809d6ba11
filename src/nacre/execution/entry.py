"""A result as the audit log has it: sizes and facts, never content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nacre.result import Output, ShellResult


def entry_of(result: ShellResult) -> dict[str, Any]:
    """The facts of a result for the log: sizes, never content."""
    output, stderr = result.output, result.stderr
    entry: dict[str, Any] = {
        "outcome": type(result.outcome).__name__.lower(),
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


def measures(elapsed: float, outputs: Sequence[Output]) -> dict[str, Any]:
    """How long and how much; both streams through one pipe are counted as stdout."""
    return {
        "durationMs": round(elapsed * 1000, 3),
        "stdoutBytes": outputs[0].total_bytes,
        "stderrBytes": outputs[1].total_bytes if len(outputs) > 1 else None,
    }
