"""The facts of a finished command that several contracts put into `details`. Pure."""

from __future__ import annotations

from typing import Any

from nacre.result import ShellResult, Signalled, TimedOut


def facts_of(result: ShellResult) -> dict[str, Any]:
    """Return how the command ended and what is left of it; facts that do not apply are absent."""
    facts: dict[str, Any] = {"wallTimeMs": round(result.elapsed * 1000)}
    if isinstance(result.outcome, TimedOut):
        facts["timedOut"] = True
    if isinstance(result.outcome, Signalled):
        facts["signal"] = result.outcome.name
    if len(result.stages) > 1:
        facts["stages"] = list(result.stages)
    if result.survivors:
        facts["survivors"] = [{"pid": one.pid, "argv": list(one.argv)} for one in result.survivors]
    if result.artifact is not None:
        facts["artifactId"] = str(result.artifact.id)
    if result.output.minimized is not None:
        facts["minimized"] = result.output.minimized.json()
    if result.tried is not None:
        facts["try"] = result.tried.json()
    return facts
