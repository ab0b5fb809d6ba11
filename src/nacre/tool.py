"""A tool as an agent's author holds it: a contract around the engine.

decode → run or keep → present. Errors before the start become the contract's own refusal; a cancelled call raises.
What a call needs beside a plain run is in the modules tool_*.py.
"""

from __future__ import annotations

import asyncio
import copy
import os
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from nacre import config, handover, place
from nacre.artifacts.artifact_urls import standard_router
from nacre.contracts import contract_named, name_of
from nacre.contracts.contract import Companion, Contract, Reply, SeriesContract
from nacre.contracts.tool_schema import context_of
from nacre.engine.engine import Engine, from_environment
from nacre.engine.execute import execute
from nacre.engine.live import INTERVAL_SECONDS, LiveTail
from nacre.engine.observers import Observers
from nacre.engine.planner import PlanKey, wait_policy
from nacre.errors import InvalidRequestError, NacreError
from nacre.guard.approval import Approver
from nacre.kept_command import Background
from nacre.planning.normalise import normalise
from nacre.planning.plan import Plan
from nacre.planning.urls import Resolver, UrlRouter
from nacre.profile import Profile
from nacre.request import By, Owner, ShellRequest
from nacre.result import ShellResult
from nacre.series import run_series
from nacre.settings import Settings
from nacre.tool_events import Notice, Update, ended_jobs, followed
from nacre.tool_replies import command_in, companion_reply, refusal_of, with_handed_over
from nacre.tool_routes import Caller, placed_on_terminal, run_apart, suited
from nacre.tool_shell import ToolShell

if TYPE_CHECKING:
    from nacre.backend import Backend
    from nacre.backends.client_terminal import TerminalClient
    from nacre.feed.previewing import Previews
    from nacre.sessions.session import ShellSession

RESTARTED = "The shell was restarted: directory and variables start anew."
WATCHED = "not in the client's terminal: what its rm removes is only known while it runs, and is looked at then"


class Tool:
    """One contract, ready to be called. It has a method for each thing that its author asks of it: more than ten.

    >>> import asyncio, nacre
    >>> async def main():
    ...     async with nacre.Tool("basic") as tool:
    ...         return await tool.call({"command": "echo hi"})
    >>> asyncio.run(main()).json()
    {'stdout': 'hi\\n', 'stderr': '', 'exitCode': 0}
    """

    def __init__(
        self,
        contract: str | Contract | SeriesContract | Companion = "workspace",
        *,
        cwd: str | os.PathLike[str] | None = None,
        settings: Settings | None = None,
        approver: Approver | None = None,
        backend: Backend | None = None,
        tools: Collection[str] = (),
        session: str | Literal[False] | None = None,
        skills: Collection[str | os.PathLike[str]] = (),
        schemes: Mapping[str, Resolver] | None = None,
        terminal: TerminalClient | None = None,
        most_wait: float | None = None,
        by: By = "model",
        ui: bool = False,
    ) -> None:
        """Make a tool of a contract.

        Args:
            contract: the name of a contract, or an own one (docs/guides/write-a-contract.md).
            cwd: where its commands run; the process's own directory unless given.
            approver: asked about commands that a rule says to ask about; an error, or no True within the call's timeout
                (at most 60 s), is a denial.
            backend: the place where its commands run, if not this machine: what `nacre.connect` gives, or your own
                (docs/guides/write-a-backend.md), where each command has a shell of its own.
            tools: names of the other tools that the model has, which the interceptor may point to.
            session: whose shell and whose `local://` files these are; tools of the same session share them. Unless
                given, the shell is this tool's own; False gives every command one.
            skills: directories whose subdirectories are skills, for `skill://`.
            schemes: further URL schemes and what resolves them to paths.
            terminal: the client's terminals (`nacre.acp.ClientTerminals`), where foreground commands then run.
            most_wait: seconds after which the caller gives up on a call: a command becomes a job before, where its
                contract has jobs, and a poll waits no longer.
            by: who writes its commands; those of a person are logged as such, and a denial by the guard is a question
                to the approver and to viewers.
            ui: whether the program shows terminals to a person, who can type: `pty: true` then gives one in the
                foreground. An update tells the job whose terminal it is (`nacre.jobs.terminal_view`).
        """
        if terminal is not None and contract != "workspace":
            wrong = f"terminal goes with the contract workspace, not with {contract}"
            raise InvalidRequestError(wrong, field="terminal")
        self._contract = contract_named(contract) if isinstance(contract, str) else contract
        self.contract = contract if isinstance(contract, str) else name_of(contract)
        """The name of its contract."""
        there = place.directory_at(backend)
        self._cwd = there if cwd is None else config.absolute(cwd, base=there)
        self._settings = settings
        self._approver = approver
        self._backend = backend
        self._tools = frozenset(tools)
        self._shell = ToolShell(session, here=terminal is None)
        self._skills = [Path(root) for root in skills]
        self._schemes = dict(schemes or {})
        self._terminal = terminal
        self._most_wait = most_wait
        self._by = by
        self._previews: Previews | None = None
        self._ui = ui
        if isinstance(self._contract, Companion):
            self._contract.most_wait = most_wait
        self._engine: Engine | None = None
        self._router: UrlRouter | None = None

    def sharing(self, *, tools: Collection[str] = (), by: By = "model") -> Tool:
        """Another tool of the same contract in the same shell, for a caller with other tools beside it."""
        other = copy.copy(self)
        other._tools, other._by, other._shell = frozenset(tools), by, self._shell.shared()
        other._engine = other._router = other._previews = None
        return other

    async def __aenter__(self) -> Self:
        self.prepare()
        return self

    def prepare(self) -> None:
        """Load what the first command needs, and start to read the user's rc where a loop runs; best effort."""
        if isinstance(profile := getattr(self._contract, "profile", None), Profile):
            # What is wrong with the settings is answered by the first call.
            with suppress(NacreError):
                if self._shell.persists(self.engine, profile):
                    self.engine.read_rc_early(profile)

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Give back what the tool holds; a shell of its own ends."""
        self._shell.close()
        self._engine = None

    @property
    def cwd(self) -> str:
        """Where its next command runs: its session's directory, once there is one."""
        cwd = None if self._engine is None else self._shell.cwd(self._engine)
        return self._start_directory() if cwd is None else cwd

    def _start_directory(self) -> str:
        return self._cwd if self._cwd is not None else config.working_directory()

    @property
    def owner(self) -> Owner:
        """Whose its jobs are: a companion without the name of a session has none."""
        session = self._shell.owner(companion=isinstance(self._contract, Companion))
        return Owner(session=session, directory=self._start_directory())

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            self._engine = from_environment(settings=self._settings, approver=self._approver, backend=self._backend)
        return self._engine

    @property
    def urls(self) -> UrlRouter:
        """What the URLs in commands, variables and directories lead to; a program may register more schemes."""
        if self._router is None:
            engine = self.engine
            self._router = standard_router(
                engine.artifacts,
                state_dir=engine.state_dir,
                session=self._shell.name or "default",
                skill_roots=self._skills,
                schemes=self._schemes,
            )
        return self._router

    def schema(self) -> dict[str, Any]:
        """Name, description and input schema, as a model sees them."""
        # In a client's terminal each command has a shell of its own, and is waited for to its end.
        here, engine = self._terminal is None, self.engine
        persists = here and self._shell.name is not False and not engine.has_no_shells
        context = context_of(engine.settings, self.cwd, persists=persists, moves=here, most_wait=self._most_wait)
        return self._contract.schema(replace(context, async_enabled=False) if engine.has_no_jobs else context)

    async def call(self, arguments: object) -> Reply:
        """Run one tool call. Whatever the model sent is answered, not raised."""
        return await self._call(arguments, None)

    async def _call(self, arguments: object, live: LiveTail | None) -> Reply:
        contract = self._contract
        if isinstance(contract, Companion):
            try:
                engine = self.engine
            except NacreError as error:
                return self.refusal(error)
            return await companion_reply(contract, engine, arguments, self.owner)
        try:
            if isinstance(contract, SeriesContract):
                series = contract.decode_series(arguments)
                ground = None if self.engine.confining is None else self._shell.ground(self._start_directory())
                return series.present(
                    await run_series(self.engine, series, cwd=self.cwd, key=self._shell.key, ground=ground, live=live)
                )
            engine, profile = self.engine, contract.profile
            key = self._plan_key(engine, profile, arguments)
            planned = None if key is None else engine.planner.known.get(key)
            if planned is None:
                request = contract.decode(arguments)
                if self._by != "model":
                    request = replace(request, by=self._by)
                if request.mode == "restart":
                    self._shell.restart(engine)
                    return Reply(text=RESTARTED, is_error=False)
                result = await self._execute(contract, engine.notices.add(request, self._shell.key), live, key)
                engine.notices.told(self._shell.key)
            else:
                result = await self._run(engine, planned, profile, live, self._shell.last)
            reply = contract.present(result)
            if handover.waiting:
                reply = with_handed_over(reply, engine.redactor, self.owner.session)
            return reply
        except (NacreError, asyncio.CancelledError) as error:
            self._log_refusal(arguments, error)
            if isinstance(error, asyncio.CancelledError):
                raise
            return self.refusal(error)

    def refusal(self, error: NacreError) -> Reply:
        """The answer to a call that was not run, in the contract's own shape."""
        return refusal_of(self._contract, error)

    def _log_refusal(self, arguments: object, error: BaseException) -> None:
        """Log a call that has no result, unless the engine has."""
        # Without settings there is no log; the answer says what is wrong with them.
        with suppress(NacreError):
            self.engine.log.add_refusal(self.contract, command_in(arguments), self.cwd, error)

    def _plan_key(self, engine: Engine, profile: Profile, arguments: object) -> PlanKey | None:
        """Everything that the plan of a plain call depends on; None for a call that is decoded and planned each time.

        Most calls are a command alone in a shell that waits, and agents repeat commands.
        """
        shell = self._shell.last
        if shell is None or not shell.alive or type(arguments) is not dict or len(arguments) != 1:
            return None
        command = arguments.get("command")
        # A URL leads elsewhere from one call to the next, and so may an interceptor's rules.
        if type(command) is not str or "://" in command or engine.settings.policy.interceptor or engine.notices.notices:
            return None
        here = self._cwd if self._cwd is not None else config.working_directory()
        return profile, command, self._shell.key, self._by, here, shell.cwd, engine.planner.environment.generation

    async def _run(
        self, engine: Engine, planned: Plan, profile: Profile, live: LiveTail | None, session: ShellSession | None
    ) -> ShellResult | Background:
        policy = wait_policy(planned.request, engine.settings, self._most_wait) if profile.moves_to_background else None
        if self._previews is not None and (seen := self._previews.take(planned.request.command)) is not None:
            planned = planned._replace(call=seen)
        return await execute(engine, planned, profile, policy=policy, observers=Observers(live=live), session=session)

    async def _execute(
        self, contract: Contract, request: ShellRequest, live: LiveTail | None, key: PlanKey | None
    ) -> ShellResult | Background:
        engine, profile = self.engine, contract.profile
        if engine.confining is not None:
            request = replace(request, ground=self._shell.ground(self._start_directory()))
        client = suited(self._terminal, request)
        if request.terminal is not None:
            request = placed_on_terminal(engine, request, profile, ui=self._ui)
        if profile.moves_to_background or request.mode == "background":
            request = replace(request, owner=self.owner)
        if profile.normalises:
            can_lift = client is None and engine.backend_for(profile).keeps
            request = normalise(request, engine.settings, self.urls, tools=self._tools, can_lift=can_lift)
        session = self._shell.session(engine, profile, self.cwd)
        caller = Caller(self.cwd, session, self._most_wait, Observers(live=live), client)
        if (found := await run_apart(engine, request, profile, caller)) is not None:
            return found
        if client is not None:
            request = replace(request, notices=(*request.notices, WATCHED))
        planned = engine.planner.plan(request, profile, cwd=self.cwd)
        if key is not None:
            engine.planner.remember(key, planned)
        return await self._run(engine, planned, profile, live, session)

    def preview(self, partial_json: str, *, key: str = "") -> str | None:
        """Show viewers a call whose arguments are still being written; the call that comes of it has the same id.

        Costs one system call where there are no viewers. Nothing is run.

        Args:
            partial_json: the arguments so far.
            key: tells apart calls that are written at the same time.

        Returns:
            The id of the call; None without viewers.
        """
        viewing = None
        # The call itself is answered with what is wrong with the settings.
        with suppress(NacreError):
            viewing = self.engine.log.look_for_viewers()
        if viewing is None:
            return None
        if self._previews is None:
            from nacre.feed.previewing import Previews

            self._previews = Previews()
        found = self._previews.show(key, partial_json, self.engine.redactor, self.owner)
        viewing.publisher.once(found.event | {"contract": self.contract, "cwd": self.cwd})
        return found.call

    def notices(self, *, program: bool = False) -> AsyncGenerator[Notice, None]:
        """The jobs of this tool's session as they end, each once, and those of its project whose program is gone.

        Jobs of other sessions and of other living programs are not told. A listener that stops while jobs run closes
        the generator (`contextlib.aclosing`): it holds a descriptor for each of them.

        Args:
            program: tell of the jobs of every session of this program, as a companion does that has no session.
        """
        owner = self.owner._replace(session=None) if program else self.owner
        return ended_jobs(self.engine, owner)

    def stream(self, arguments: object, *, interval: float = INTERVAL_SECONDS) -> AsyncGenerator[Update | Reply, None]:
        """Run one tool call and yield its live tail, then the reply.

        A slow reader slows nothing down: what it misses is in the next update. Leaving early stops the command.

        Args:
            interval: seconds between two updates at least; the reply comes at once.
        """
        return followed(partial(self._call, arguments), interval)
