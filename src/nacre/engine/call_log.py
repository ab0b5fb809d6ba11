"""What the audit log has of a call: its outcome, sizes and facts, never content. Every call is written once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

from nacre.audit import AuditLog
from nacre.errors import DeniedError, InterceptedError
from nacre.output.redaction.redactor import Redactor
from nacre.planning.plan import Plan
from nacre.profile import Profile
from nacre.result import Exited, Lost, Output, ShellResult, Signalled, Stopped, TimedOut

# Set on an exception whose call is in the log: it passes several frames that would log it.
_LOGGED = "nacre_logged"


class CallLog:
    """The calls of one engine, in the audit log of its state directory."""

    def __init__(self, state_dir: str, *, cap_bytes: int, redactor: Callable[[], Redactor]) -> None:
        """Take the redactor for calls that were refused before they were planned."""
        self._audit = AuditLog(state_dir, cap_bytes=cap_bytes)
        self._redactor = redactor

    def add(self, profile: Profile, planned: Plan, facts: dict[str, Any]) -> str | None:
        """Write a call; a failure is returned in words."""
        shown = {"contract": profile.contract, "command": planned.logged_command, "cwd": planned.logged_cwd}
        return self._audit.append({"time": time.time(), **shown, **facts})

    def add_failure(self, profile: Profile, planned: Plan, error: BaseException, **facts: Any) -> None:
        """Write a call that has no result, unless a frame below has written the same error."""
        hide_in(error, planned.redactor)
        if not _is_logged(error):
            self.add(profile, planned, {**failure_of(error, planned.redactor), **facts})

    def add_refusal(self, contract: str, command: str, cwd: str, error: BaseException) -> None:
        """The same for a call that was refused before it was planned."""
        redactor = self._redactor()
        hide_in(error, redactor)
        if not _is_logged(error):
            shown = {"contract": contract, "command": redactor.redact_text(command), "cwd": redactor.redact_text(cwd)}
            self._audit.append({"time": time.time(), **shown, **failure_of(error, redactor)})

    def close(self) -> None:
        self._audit.close()


def _is_logged(error: BaseException) -> bool:
    """True if a frame below has logged it; from now on it counts as logged."""
    known = error.__dict__.get(_LOGGED, False)
    error.__dict__[_LOGGED] = True
    return bool(known)


OUTCOME_WORDS: dict[type, str] = {
    Exited: "exited",
    Signalled: "signalled",
    TimedOut: "timedOut",
    Stopped: "stopped",
    Lost: "lost",
}
"""An outcome as data spells it."""


def entry_of(result: ShellResult) -> dict[str, Any]:
    """The facts of a result for the log: sizes, never content."""
    output, stderr, outcome = result.output, result.stderr, result.outcome
    entry = {
        "outcome": OUTCOME_WORDS[type(outcome)],
        "exitCode": outcome.code if isinstance(outcome, Exited) else result.exit_code,
        **measures(result.elapsed, (output,) if stderr is None else (output, stderr)),
    }
    if result.survivors:
        entry["survivors"] = [{"pid": one.pid, "argv": list(one.argv)} for one in result.survivors]
    if result.notices:
        entry["notices"] = list(result.notices)
    if output.artifact is not None or (stderr is not None and stderr.artifact is not None):
        kept = (output.artifact, None if stderr is None else stderr.artifact)
        entry["artifacts"] = [artifact.id for artifact in kept if artifact is not None]
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
