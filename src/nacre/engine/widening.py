"""A command that its sandbox seems to have refused may run once more without one, if a person says so.

Without a person there is no question: the result stays as it is. The model has no part in it.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from nacre.engine.background import with_state
from nacre.engine.execute import execute
from nacre.engine.observers import Observers
from nacre.errors import NacreError
from nacre.guard.approval import AnswerPendingError
from nacre.guard.verdict import Verdict
from nacre.kept_command import Background
from nacre.planning.plan import Plan
from nacre.profile import Profile
from nacre.result import ShellResult

if TYPE_CHECKING:
    from nacre.engine.engine import Engine
    from nacre.engine.wait import WaitPolicy
    from nacre.sessions.session import ShellSession

# The rule that the question names.
RULE = "sandbox"
# A command with less of its time left is not run again.
LEAST_SECONDS = 1.0


async def offer(
    engine: Engine,
    planned: Plan,
    profile: Profile,
    result: ShellResult,
    *,
    call: str,
    policy: WaitPolicy | None,
    observers: Observers,
    session: ShellSession | None,
) -> ShellResult | Background:
    """Ask whether a refused command runs again without its sandbox; return its result, or the one that there is."""
    spec, confining = planned.command.sandbox, engine.confining
    if confining is None or spec is None or (reason := confining.reason(result, spec)) is None:
        return result
    began = time.monotonic()
    left = None if planned.limit is None else planned.limit - result.elapsed
    if left is not None and left < LEAST_SECONDS:
        return result
    question = f"it failed, and {reason}; approved, it runs again from its beginning without the sandbox, this once"
    verdict = Verdict("ask", RULE, question, denial=profile.denial.format(rule=RULE))
    try:
        if not await engine.planner.ask(planned, profile, verdict, call=call, timeout=left):
            return result
    except (NacreError, AnswerPendingError):
        # No answer leaves everything as it is.
        return result
    if left is not None:
        left = max(left - (time.monotonic() - began), LEAST_SECONDS)
    again = engine.planner.unconfined(replace(planned.request, timeout=left), profile, cwd=planned.cwd)
    notice = "a person approved it: it ran again, without the sandbox"
    if session is not None:
        cwd = again.command.cwd if planned.request.cwd is not None else session.cwd
        again = again._replace(command=replace(again.command, cwd=cwd, prologue=planned.command.prologue))
        again = with_state(again, session.restoring(planned.shared_env))
        notice += ", in a shell of its own: directory and variables of the session stay as they were"
    found = await execute(engine, again._replace(reviewed=True), profile, policy=policy, observers=observers)
    if isinstance(found, Background):
        return replace(found, notices=(*found.notices, notice))
    facts = {**spec.facts, "backend": "none", "version": None, "access": "full", "network": "on", "writable": []}
    return replace(found, sandbox=facts, notices=(*found.notices, notice))
