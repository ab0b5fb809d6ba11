"""A command of a session that cannot run in the session's shell: one of its own begins with the same state.

A budget of one call holds for all processes of its shell, so the shell must be a new one.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from nacre.engine.background import with_state
from nacre.engine.execute import execute
from nacre.engine.planner import LEAST_SECONDS
from nacre.errors import NacreError
from nacre.kept_command import Background
from nacre.planning.plan import Plan
from nacre.profile import Profile
from nacre.request import ShellRequest
from nacre.result import ShellResult

if TYPE_CHECKING:
    from nacre.engine.call_origin import CallOrigin
    from nacre.engine.engine import Engine
    from nacre.sessions.session import ShellSession

OWN_SHELL = "{what} has a shell of its own: directory and variables of the session stay as they were"


async def run_in_own_shell(
    engine: Engine, request: ShellRequest, profile: Profile, origin: CallOrigin
) -> ShellResult | Background:
    """Run a command with a budget of its own.

    Raises:
        DeniedError: it may not run.
    """
    planned, state = await plan_after_others(engine, request, profile, origin)
    result = await execute(
        engine, with_state(planned, state), profile, policy=origin.policy, observers=origin.observers
    )
    notice = OWN_SHELL.format(what="a call with a budget")
    return result if origin.session is None else replace(result, notices=(*result.notices, notice))


async def plan_after_others(
    engine: Engine, request: ShellRequest, profile: Profile, origin: CallOrigin, *, judged_as: Profile | None = None
) -> tuple[Plan, str]:
    """Plan and judge a command that begins with its session's state; return that state too.

    Args:
        judged_as: the profile that the guard goes by, if that is another.
    """
    session = origin.session
    planned = engine.planner.plan(request, profile, cwd=origin.cwd)
    if session is not None:
        planned = await _after_others(engine, planned, profile, session)
    state = session.restoring(planned.shared_env) if session is not None else ""
    known = session.state_for(request.env) if session is not None else None
    reviewed = await engine.planner.review(planned, judged_as or profile, known)
    return reviewed._replace(reviewed=True), state


async def _after_others(engine: Engine, planned: Plan, profile: Profile, session: ShellSession) -> Plan:
    """Wait for the session's earlier commands, whose state the command begins with; that counts towards its timeout."""
    began = time.monotonic()
    try:
        await session.catch_up(replace(planned.command, env=planned.shared_env), label=lambda: planned.label)
    except (NacreError, asyncio.CancelledError) as error:
        engine.log.add_failure(profile, planned, error)
        raise
    waited, limit, request = time.monotonic() - began, planned.command.timeout, planned.request
    command = planned.command if request.cwd is not None else replace(planned.command, cwd=session.cwd)
    if limit is not None:
        command = replace(command, timeout=max(limit - waited, LEAST_SECONDS))
    return planned._replace(command=command, cwd=session.cwd, waited=planned.waited + waited)
