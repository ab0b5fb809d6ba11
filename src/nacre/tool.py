"""A tool as an agent's author holds it: a contract around the engine.

decode → run or keep → present. Errors before the start become the contract's own refusal; a cancelled call raises.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import weakref
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from nacre import config, handover
from nacre.artifacts.artifact_urls import standard_router
from nacre.contracts import contract_named
from nacre.contracts.contract import Companion, Contract, Reply, SeriesContract
from nacre.contracts.tool_schema import context_of
from nacre.engine.background import start_in_background
from nacre.engine.call_log import hide_in
from nacre.engine.engine import Engine, from_environment
from nacre.engine.execute import execute
from nacre.engine.live import INTERVAL_SECONDS, LiveTail
from nacre.engine.observers import Observers
from nacre.engine.planner import PlanKey, environment
from nacre.engine.wait import WaitPolicy
from nacre.errors import InvalidRequestError, NacreError, shown
from nacre.guard.approval import Approver
from nacre.jobs.notices import completions, text_of
from nacre.jobs.ownership import hears, named_session, own_session, project_of
from nacre.jobs.status import details_of, status_of
from nacre.output.redaction.redactor import Redactor
from nacre.planning.normalise import normalise
from nacre.planning.plan import Plan
from nacre.planning.urls import Resolver, UrlRouter
from nacre.profile import Background, Profile
from nacre.request import By, Owner, ShellRequest
from nacre.result import ShellResult
from nacre.series import run_series
from nacre.settings import Settings

if TYPE_CHECKING:
    from nacre.backend import Backend
    from nacre.backends.client_terminal import TerminalClient
    from nacre.feed.previewing import Preview
    from nacre.sessions.session import ShellSession

WATCHED = "not in the client's terminal: what its rm removes is only known while it runs, and is looked at then"


@dataclass(frozen=True, slots=True)
class Update:
    """The newest output of a running command: its whole current tail."""

    text: str
    terminal_id: str | None = None
    """The client's terminal that it runs in, if it does; told before there is any output."""
    job_id: str | None = None
    """The job whose terminal it runs in, if it does; told before there is any output."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A job has ended: what its model should read, and the facts."""

    job_id: str
    text: str
    details: dict[str, Any]


class Tool:
    """One contract, ready to be called.

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
            backend: the place where its commands run, if not this machine (docs/guides/write-a-backend.md); there each
                command has a shell of its own.
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
            raise InvalidRequestError(
                f"terminal goes with the contract workspace, not with {contract}", field="terminal"
            )
        self._contract = contract_named(contract) if isinstance(contract, str) else contract
        self.contract = contract if isinstance(contract, str) else _name_of(contract)
        """The name of its contract."""
        self._cwd = None if cwd is None else config.absolute(cwd)
        self._settings = settings
        self._approver = approver
        self._backend = backend
        self._tools = frozenset(tools)
        self._session = session
        self._session_key = f"named {session}" if isinstance(session, str) else f"of tool {next(_numbers)}"
        self._skills = [Path(root) for root in skills]
        self._schemes = dict(schemes or {})
        self._terminal = terminal
        self._most_wait = most_wait
        self._by = by
        self._previews: dict[str, Preview] = {}
        self._ui = ui
        if isinstance(self._contract, Companion):
            self._contract.most_wait = most_wait
        self._engine: Engine | None = None
        self._host: Tool | None = None
        """The tool whose shell this one uses."""
        self._ending: weakref.finalize[..., Tool] | None = None
        self._router: UrlRouter | None = None
        self._shell: ShellSession | None = None
        """The session of its last call."""

    def sharing(self, *, tools: Collection[str] = (), by: By = "model") -> Tool:
        """Another tool of the same contract in the same shell, for a caller who has other tools beside it."""
        other = Tool(
            self._contract,
            cwd=self._cwd,
            settings=self._settings,
            approver=self._approver,
            backend=self._backend,
            tools=tools,
            session=self._session,
            skills=self._skills,
            schemes=self._schemes,
            terminal=self._terminal,
            most_wait=self._most_wait,
            by=by,
            ui=self._ui,
        )
        other._host, other._session_key = self, self._session_key
        return other

    async def __aenter__(self) -> Self:
        self.prepare()
        return self

    def prepare(self) -> None:
        """Load what the first command needs, and start to read the user's rc where a loop runs; best effort."""
        if isinstance(profile := getattr(self._contract, "profile", None), Profile):
            # What is wrong with the settings is answered by the first call.
            with suppress(NacreError):
                if self._persists(self.engine, profile):
                    self.engine.read_rc_early(profile)

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Give back what the tool holds; a shell of its own ends."""
        if self._ending is not None:
            self._ending()
            self._ending = None
        self._engine = self._shell = None

    @property
    def cwd(self) -> str:
        """Where its next command runs: its session's directory, once there is one."""
        session = None if self._engine is None else self._engine.known_session(self._session_key)
        if session is not None:
            return session.cwd
        return self._cwd if self._cwd is not None else config.working_directory()

    @property
    def owner(self) -> Owner:
        """Whose its jobs are: a companion without the name of a session has none."""
        directory = self._cwd if self._cwd is not None else config.working_directory()
        if isinstance(self._session, str):
            return Owner(session=named_session(self._session), directory=directory)
        companion = isinstance(self._contract, Companion)
        return Owner(session=None if companion else own_session(self._session_key), directory=directory)

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
                session=self._session or "default",
                skill_roots=self._skills,
            )
            for scheme, resolver in self._schemes.items():
                self._router.register(scheme, resolver)
        return self._router

    def schema(self) -> dict[str, Any]:
        """Name, description and input schema, as a model sees them."""
        # In a client's terminal each command has a shell of its own, and is waited for to its end.
        here = self._terminal is None
        persists = here and self._session is not False and self._backend is None
        context = context_of(self.engine.settings, self.cwd, persists=persists, most_wait=self._most_wait)
        if self._backend is not None and not self._backend.keeps:
            context = replace(context, async_enabled=False)
        return self._contract.schema(context if here else replace(context, window=0.0))

    async def call(self, arguments: object) -> Reply:
        """Run one tool call. Whatever the model sent is answered, not raised."""
        return await self._call(arguments, None)

    async def _call(self, arguments: object, live: LiveTail | None) -> Reply:
        contract = self._contract
        if isinstance(contract, Companion):
            try:
                return _redacted(await contract.answer(self.engine, arguments, self.owner), self.engine.redactor)
            except NacreError as error:
                self._hide_in(error)
                return self.refusal(error)
        try:
            if isinstance(contract, SeriesContract):
                series = contract.decode_series(arguments)
                return series.present(
                    await run_series(self.engine, series, cwd=self.cwd, key=self._session_key, live=live)
                )
            engine, profile = self.engine, contract.profile
            key = self._plan_key(engine, profile, arguments)
            planned = None if key is None else engine.planner.known.get(key)
            if planned is None:
                request = contract.decode(arguments)
                if self._by != "model":
                    request = replace(request, by=self._by)
                if request.mode == "restart":
                    return self._restart()
                result = await self._execute(contract, engine.notices.add(request, self._session_key), live, key)
                engine.notices.told(self._session_key)
            else:
                result = await self._run(engine, planned, profile, live, self._shell)
            reply = contract.present(result)
            return reply if not handover.waiting else self._with_handed_over(reply)
        except NacreError as error:
            self._log_refusal(arguments, error)
            return self.refusal(error)
        except asyncio.CancelledError as error:
            self._log_refusal(arguments, error)
            raise

    def _with_handed_over(self, reply: Reply) -> Reply:
        """The answer with what the person at a console ran for its agent to see; an object of its own has no place."""
        if reply.bare is not None:
            return reply
        # Not a notice of the result: the log tells sizes, never content.
        texts = [self.engine.redactor.redact_text(text) for text in handover.take(self.owner.session)]
        return replace(reply, text="\n\n".join([reply.text, *texts]))

    def refusal(self, error: NacreError) -> Reply:
        """The answer to a call that was not run, in the contract's own shape."""
        if isinstance(self._contract, Companion):
            return Reply(text=str(error), is_error=True, refusal=error)
        return replace(self._contract.refuse(error), refusal=error)

    def _hide_in(self, error: NacreError) -> None:
        try:
            redactor = self.engine.redactor
        except NacreError:
            # Without settings nothing is filtered and nothing hidden; the error says what is wrong with them.
            return
        hide_in(error, redactor)

    def _log_refusal(self, arguments: object, error: BaseException) -> None:
        """Log a call that has no result, unless the engine has."""
        try:
            engine = self.engine
        except NacreError:
            # Without settings there is no log; the answer says what is wrong with them.
            return
        command = arguments.get("command", arguments.get("commands")) if isinstance(arguments, Mapping) else None
        text = command if isinstance(command, str) else "" if command is None else shown(command)
        engine.log.add_refusal(self.contract, text, self.cwd, error)

    def _restart(self) -> Reply:
        session = self.engine.known_session(self._session_key)
        if session is not None:
            session.restart()
        return Reply(text="The shell was restarted: directory and variables start anew.", is_error=False)

    def _plan_key(self, engine: Engine, profile: Profile, arguments: object) -> PlanKey | None:
        """Everything that the plan of a plain call depends on; None for a call that is decoded and planned each time.

        Most calls are a command alone in a shell that waits, and agents repeat commands.
        """
        shell = self._shell
        if shell is None or not shell.alive or type(arguments) is not dict or len(arguments) != 1:
            return None
        command = arguments.get("command")
        # A URL leads elsewhere from one call to the next, and so may an interceptor's rules.
        if type(command) is not str or "://" in command or engine.settings.policy.interceptor or engine.notices.notices:
            return None
        here = self._cwd if self._cwd is not None else config.working_directory()
        return profile, command, self._session_key, self._by, here, shell.cwd, engine.planner.environment.generation

    async def _run(
        self, engine: Engine, planned: Plan, profile: Profile, live: LiveTail | None, session: ShellSession | None
    ) -> ShellResult | Background:
        policy = wait_policy(planned.request, engine.settings, self._most_wait) if profile.moves_to_background else None
        if self._previews:
            planned = self._previewed(planned)
        return await execute(engine, planned, profile, policy=policy, observers=Observers(live=live), session=session)

    async def _execute(
        self, contract: Contract, request: ShellRequest, live: LiveTail | None, key: PlanKey | None
    ) -> ShellResult | Background:
        profile = contract.profile
        engine = self.engine
        terminal = self._terminal_for(request)
        if request.terminal is not None:
            request = self._place_terminal(engine, profile, request)
        if profile.moves_to_background or request.mode == "background":
            request = replace(request, owner=self.owner)
        if profile.normalises:
            can_lift = terminal is None and engine.backend_for(profile).keeps
            request = normalise(request, engine.settings, self.urls, tools=self._tools, can_lift=can_lift)
        session = self._shell_session(engine, profile)
        if request.tries:
            return await self._try(engine, request, profile, live, session)
        if request.mode == "background":
            return await start_in_background(engine, request, profile, cwd=self.cwd, session=session)
        if request.terminal is not None:
            return await self._run_on_terminal(engine, request, profile, live, session)
        if terminal is not None:
            if not engine.planner.watches(request.command, profile):
                return await self._run_in(terminal, request, profile, live)
            request = replace(request, notices=(*request.notices, WATCHED))
        planned = engine.planner.plan(request, profile, cwd=self.cwd)
        if key is not None:
            engine.planner.remember(key, planned)
        return await self._run(engine, planned, profile, live, session)

    async def _try(
        self,
        engine: Engine,
        request: ShellRequest,
        profile: Profile,
        live: LiveTail | None,
        session: ShellSession | None,
    ) -> ShellResult | Background:
        from nacre.engine.trying import run_try

        policy = wait_policy(request, engine.settings, self._most_wait) if profile.moves_to_background else None
        observers = Observers(live=live)
        return await run_try(
            engine, request, profile, cwd=self.cwd, session=session, policy=policy, observers=observers
        )

    def _shell_session(self, engine: Engine, profile: Profile) -> ShellSession | None:
        """The persistent shell, where the contract has one, it is wanted, and it can be had."""
        if not self._persists(engine, profile):
            return None
        if self._session is None and self._host is None and self._ending is None:
            # A tool that is forgotten without a word takes its shell along.
            self._ending = weakref.finalize(self, engine.end_session, self._session_key)
            self._ending.atexit = False
        self._shell = engine.session(self._session_key, cwd=self.cwd, with_rc=profile.sources_rc)
        if not self._shell.alive:
            engine.read_rc_early(profile)
        return self._shell

    def _persists(self, engine: Engine, profile: Profile) -> bool:
        """Whether its commands share a shell: the contract has that, it is wanted, and it can be had."""
        if self._session is False or not (profile.persists and engine.settings.sessions.persist):
            return False
        # A state that only the few commands share which cannot run in the client's terminal would confuse.
        return self._terminal is None and not engine.has_own_backend and engine.backend_for(profile).keeps

    def _terminal_for(self, request: ShellRequest) -> TerminalClient | None:
        """The client's terminals, if they can do what is asked for: run it to its end, without a terminal of ours."""
        suited = request.mode == "foreground" and request.until is None and not request.terminal
        return self._terminal if suited else None

    def _place_terminal(self, engine: Engine, profile: Profile, request: ShellRequest) -> ShellRequest:
        """Decide whether a command that asks for a terminal gets one."""
        from nacre.planning.terminal import place_terminal

        backend = engine.backend_for(profile)
        return place_terminal(
            request,
            no_pty=engine.settings.pty.no_pty,
            has_ui=self._ui or engine.log.has_person(),
            supported=backend.keeps and getattr(backend, "terminals", False),
        )

    async def _run_on_terminal(
        self,
        engine: Engine,
        request: ShellRequest,
        profile: Profile,
        live: LiveTail | None,
        session: ShellSession | None,
    ) -> ShellResult | Background:
        from nacre.engine.terminal_call import run_on_terminal

        return await run_on_terminal(
            engine,
            request,
            profile,
            cwd=self.cwd,
            session=session,
            policy=wait_policy(request, engine.settings, self._most_wait) if profile.moves_to_background else None,
            observers=Observers(live=live),
        )

    async def _run_in(
        self, terminal: TerminalClient, request: ShellRequest, profile: Profile, live: LiveTail | None
    ) -> ShellResult:
        from nacre.backends.client_terminal import ClientTerminalBackend

        place = None if live is None else live.place
        backend = ClientTerminalBackend(terminal, environment().values, placed=place)
        planned = self.engine.planner.plan(request, profile, cwd=self.cwd)
        observers = Observers(live=live)
        result = await execute(self.engine, planned, profile, observers=observers, backend=backend)
        return replace(result, terminal_id=backend.terminal_id)

    def preview(self, partial_json: str, *, key: str = "") -> str | None:
        """Show viewers a call whose arguments are still being written; the call that comes of it has the same id.

        Costs one system call where there are no viewers. Nothing is run.

        Args:
            partial_json: the arguments so far.
            key: tells apart calls that are written at the same time.

        Returns:
            The id of the call; None without viewers.
        """
        try:
            viewing = self.engine.log.look_for_viewers()
        except NacreError:
            # The call itself is answered with what is wrong with the settings.
            return None
        if viewing is None:
            return None
        from nacre.feed.previewing import preview_of

        found = preview_of(partial_json, self._previews.get(key), self.engine.redactor, self.owner)
        self._previews[key] = found
        viewing.publisher.once(found.event | {"contract": self.contract, "cwd": self.cwd})
        return found.call

    def _previewed(self, planned: Plan) -> Plan:
        """The plan with the id under which viewers saw it being written, if they did."""
        for key, found in self._previews.items():
            if planned.request.command.startswith(found.command):
                del self._previews[key]
                return replace(planned, call=found.call)
        return planned

    async def notices(self, *, program: bool = False) -> AsyncGenerator[Notice, None]:
        """The jobs of this tool's session as they end, each once, and those of its project whose program is gone.

        Jobs of other sessions and of other living programs are not told. A listener that stops while jobs run closes
        the generator (`contextlib.aclosing`): it holds a descriptor for each of them.

        Args:
            program: tell of the jobs of every session of this program, as a companion does that has no session.
        """
        owner = self.owner._replace(session=None) if program else self.owner
        project = await project_of(owner.directory)
        async with aclosing(completions(self.engine.jobs, lambda job: hears(owner, project, job))) as ended:
            async for job in ended:
                state = "completed" if status_of(job) == "completed" else "failed"
                details = details_of(job) | {"async": {"state": state, "jobId": job.id, "type": "bash"}}
                yield Notice(job.id, self.engine.redactor.redact_text(text_of(job)), details)

    async def stream(
        self, arguments: object, *, interval: float = INTERVAL_SECONDS
    ) -> AsyncGenerator[Update | Reply, None]:
        """Run one tool call and yield its live tail, then the reply.

        A slow reader slows nothing down: what it misses is in the next update. Leaving early stops the command.

        Args:
            interval: seconds between two updates at least; the reply comes at once.
        """
        live = LiveTail()
        call = asyncio.create_task(self._call(arguments, live))
        call.add_done_callback(lambda _: live.end())
        try:
            while (text := await live.next()) is not None:
                yield Update(text, live.terminal_id, live.job_id)
                await asyncio.wait([call], timeout=interval)
            yield await call
        finally:
            call.cancel()
            await asyncio.wait([call])


# Tools without a session of a name have one of their own.
_numbers = itertools.count(1)


def _name_of(contract: Contract | SeriesContract | Companion) -> str:
    profile = getattr(contract, "profile", None)
    return profile.contract if isinstance(profile, Profile) else type(contract).__name__


def _redacted(reply: Reply, redactor: Redactor) -> Reply:
    """An answer about kept output without hidden values that were broken by escapes there and are whole here."""
    if not redactor:
        return reply

    def clean(value: Any) -> Any:
        if isinstance(value, str):
            return redactor.redact_text(value)
        if isinstance(value, Mapping):
            return {key: clean(one) for key, one in value.items()}
        return [clean(one) for one in value] if isinstance(value, list | tuple) else value

    return replace(reply, text=clean(reply.text), details=clean(reply.details))


def wait_policy(request: ShellRequest, settings: Settings, most_wait: float | None = None) -> WaitPolicy | None:
    """How long the call waits for a command that may become a job; None waits to the end."""
    jobs, timeout = settings.jobs, request.timeout
    assert timeout is not None
    window = jobs.auto_background_seconds if most_wait is None else min(jobs.auto_background_seconds, most_wait)
    moves = jobs.async_enabled and window > 0
    if jobs.background_before_timeout:
        # A command that may live for a second only is not worth moving.
        window = min(window, timeout - 1.0)
        moves = moves and window > 0
    elif timeout <= window:
        # The caller of a short timeout asked for the end of the command, not for a job.
        moves = False
    return WaitPolicy(window if moves else None, request.until) if moves or request.until is not None else None
