"""The ways of a tool call's command that are not a plain run: a job, a try, a shell or a terminal of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from nacre.engine.background import start_in_background
from nacre.engine.call_origin import CallOrigin
from nacre.engine.engine import Engine
from nacre.engine.execute import execute
from nacre.engine.observers import Observers
from nacre.engine.planner import environment, wait_policy
from nacre.kept_command import Background
from nacre.profile import Profile
from nacre.request import ShellRequest
from nacre.result import ShellResult

if TYPE_CHECKING:
    from nacre.backends.client_terminal import TerminalClient
    from nacre.sessions.session import ShellSession


class Caller(NamedTuple):
    """What a tool knows about one of its calls beside the request."""

    cwd: str
    session: ShellSession | None
    """The shell with whose state the command begins."""
    most_wait: float | None
    """Seconds after which the caller gives up on the call."""
    observers: Observers
    client: TerminalClient | None
    """The client's terminals, if they can do what is asked for."""


def suited(client: TerminalClient | None, request: ShellRequest) -> TerminalClient | None:
    """Return the client's terminals if they can do what is asked for: run it to its end, without a terminal of ours."""
    # What must be confined runs where nacre can do that.
    here = request.until is not None or request.terminal or request.ground is not None or request.budget is not None
    return client if request.mode == "foreground" and not here else None


def placed_on_terminal(engine: Engine, request: ShellRequest, profile: Profile, *, ui: bool) -> ShellRequest:
    """Return a request that asks for a terminal with one, or without one and with the notice that says why."""
    from nacre.planning.terminal_variables import place_terminal

    backend = engine.backend_for(profile)
    return place_terminal(
        request,
        no_pty=engine.settings.pty.no_pty,
        has_ui=ui or engine.log.has_person(),
        supported=backend.keeps and getattr(backend, "terminals", False),
    )


async def run_apart(
    engine: Engine,
    request: ShellRequest,
    profile: Profile,
    caller: Caller,
) -> ShellResult | Background | None:
    """Run a command that needs a place of its own; return None, with nothing started, for one that needs none."""
    cwd, session, most_wait, observers, client = caller
    if request.mode == "background" and not request.tries:
        return await start_in_background(engine, request, profile, cwd=cwd, session=session)
    if request.tries or request.terminal is not None:
        from nacre.engine.terminal_call import run_on_terminal
        from nacre.engine.trying import run_try

        policy = wait_policy(request, engine.settings, most_wait) if profile.moves_to_background else None
        run = run_try if request.tries else run_on_terminal
        return await run(engine, request, profile, CallOrigin(cwd, session, policy, observers))
    if request.budget is not None and session is not None:
        from nacre.engine.own_shell import run_in_own_shell

        policy = wait_policy(request, engine.settings, most_wait) if profile.moves_to_background else None
        return await run_in_own_shell(engine, request, profile, CallOrigin(cwd, session, policy, observers))
    if client is not None and not engine.planner.watches(request.command, profile):
        return await _run_in_client(engine, client, request, profile, cwd=cwd, observers=observers)
    return None


async def _run_in_client(
    engine: Engine, client: TerminalClient, request: ShellRequest, profile: Profile, *, cwd: str, observers: Observers
) -> ShellResult:
    """Run a command to its end in a terminal of the client."""
    from nacre.backends.client_terminal import ClientTerminalBackend

    place = None if observers.live is None else observers.live.place
    backend = ClientTerminalBackend(client, environment().values, placed=place)
    profile = replace(profile, surface="acp")
    planned = engine.planner.plan(request, profile, cwd=cwd)
    result = await execute(engine, planned, profile, observers=observers, backend=backend)
    return replace(result, terminal_id=backend.terminal_id)
