"""The facts of a finished command that several contracts put into `details`. Pure."""

from __future__ import annotations

from typing import Any

from nacre.errors import NacreError
from nacre.result import Lost, ShellResult, Signalled, TimedOut


def blame_of(error: NacreError) -> dict[str, Any]:
    """Return whose doing it is that there is no result, if not the caller's, and the limit that was reached."""
    if error.cause == "command":
        return {}
    return {"cause": error.cause} if error.clock is None else {"cause": error.cause, "clock": error.clock}


def facts_of(result: ShellResult) -> dict[str, Any]:
    """Return how the command ended and what is left of it; facts that do not apply are absent.

    Evaluators of remote runs need `cause` and `clock` in each; a local result has them unless both say nothing.
    """
    facts: dict[str, Any] = {"wallTimeMs": round(result.elapsed * 1000)}
    if result.remote or result.clock is not None:
        facts["cause"], facts["clock"] = result.cause, result.clock
    elif isinstance(result.outcome, Lost):
        facts["cause"] = result.cause
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
    if result.sandbox is not None:
        facts["sandbox"] = dict(result.sandbox)
    if result.tried is not None:
        facts["try"] = result.tried.json()
    return facts
