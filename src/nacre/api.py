"""The library for programs that want values, not a tool: `run`, `run_sync` and `Session`."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import weakref
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, Self, TypeVar

from nacre import config, place
from nacre.call_budget import Budget
from nacre.engine.engine import Engine, from_environment, has_shells
from nacre.engine.execute import execute
from nacre.engine.observers import NO_OBSERVERS, Observers, Passthrough
from nacre.engine.planner import environment
from nacre.errors import BackendUnavailableError
from nacre.output.captured import EVERYTHING, Captured, Selection
from nacre.output.decode import CHARACTER_BYTES
from nacre.output.sizes import human_size
from nacre.output.view import both_ends
from nacre.profile import CaptureShape, Profile
from nacre.request import Ground, ShellRequest, check_call
from nacre.result import Output, ShellResult
from nacre.settings import HEAD_BYTES, INLINE_BYTES, Settings
from nacre.warden.launch import quoted
from nacre.wording import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.backend import Backend
    from nacre.guard.approval import Approver
    from nacre.planning.plan import Plan
    from nacre.sessions.session import ShellSession

T = TypeVar("T")

# The commands of a program that belong to no session count as one when it comes to notices about the settings.
_STATELESS = "of no session"

TAIL_BYTES = INLINE_BYTES - HEAD_BYTES


def head_and_tail(captured: Captured, selection: Selection = EVERYTHING) -> Output:
    """All of a small output; the beginning and the end of a larger one around an exact omission marker."""
    text = None if captured.whole is None else captured.whole.decode("utf-8", "replace")
    truncation = None
    if text is None or len(text.encode()) > INLINE_BYTES:
        head, tail, truncation = both_ends(captured, HEAD_BYTES, TAIL_BYTES)
        where = f": artifact {captured.artifact.id}" if captured.artifact is not None else ""
        omitted = f"{counted(truncation.omitted_lines, 'line')}, {human_size(truncation.omitted_bytes)} omitted"
        text = f"{head}{'' if head.endswith(chr(10)) else chr(10)}[… {omitted}{where} …]\n{tail}"
    return Output(
        text=text,
        total_bytes=captured.total_bytes,
        total_lines=captured.total_lines,
        truncation=truncation,
        artifact=captured.artifact,
    )


PROFILE = Profile(
    contract="run",
    timeout=300.0,
    grace=5.0,
    streams="merged",
    # A character more than is shown, so that the view makes the cut, on its border.
    capture=CaptureShape(
        whole_bytes=INLINE_BYTES + 2 * CHARACTER_BYTES,
        head_bytes=HEAD_BYTES + CHARACTER_BYTES,
        tail_bytes=TAIL_BYTES + CHARACTER_BYTES,
    ),
    view=head_and_tail,
)


async def run(
    command: str,
    *,
    timeout: float | None = None,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    settings: Settings | None = None,
    backend: Backend | None = None,
    budget: Budget | None = None,
) -> ShellResult:
    """Run a shell command to its end.

    A non-zero exit, a signal and a timeout are results; what could not be started raises a NacreError.

    Args:
        timeout: seconds; the setting `execution.timeout_seconds` (300) unless given.
        env: variables for this command, on top of the filtered environment.
        backend: the place where it runs, if not this machine (docs/guides/write-a-backend.md).
        budget: what it may spend; the settings may allow less.

    >>> import asyncio, nacre
    >>> asyncio.run(nacre.run("echo hi")).text
    'hi\\n'
    """
    return await run_with(
        command, PROFILE, timeout=timeout, cwd=cwd, env=env, settings=settings, backend=backend, budget=budget
    )


async def run_with(
    command: str,
    profile: Profile,
    *,
    timeout: float | None = None,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    settings: Settings | None = None,
    backend: Backend | None = None,
    observers: Observers = NO_OBSERVERS,
    approver: Approver | None = None,
    stdin: str | None = None,
    budget: Budget | None = None,
) -> ShellResult:
    """Run a command with a profile of the caller's choice.

    Args:
        approver: asked about commands that a rule says to ask about.
        stdin: a fifo that the command reads; None gives it an empty input.
    """
    if timeout is not None or env is not None or not isinstance(command, str):
        check_call(command, timeout=timeout, env=env)
    there = None if backend is None and place.chosen is None else place.directory_at(backend)
    directory = config.absolute(cwd, base=there) if cwd is not None else there or config.working_directory()
    environ = environment()
    engine = from_environment(settings=settings, approver=approver, backend=backend, environ=environ)
    planner, notices = engine.planner, engine.notices
    key = (profile, command, timeout, directory, environ.generation, budget)
    planned = planner.known.get(key) if env is None else None
    if planned is None:
        check_call(command)
        limit = engine.settings.execution.timeout_seconds if timeout is None else timeout
        request = notices.add(ShellRequest(command=command, timeout=limit, env=env, budget=budget), _STATELESS)
        if engine.confining is not None:
            request = replace(request, ground=Ground(directory, _STATELESS))
        planned = await planner.review(planner.plan(request, profile, cwd=directory), profile)
        if env is None and planner.decides_alone and not planned.waited and not notices.notices:
            planner.remember(key, planned)
    if stdin is not None:
        # The shell itself opens the fifo: where nothing writes to it, the timeout ends the shell.
        if engine.confining is not None:
            planned = engine.confining.showing(planned, os.path.dirname(stdin))
        prologue = f"exec <{quoted(stdin)}\n{planned.command.prologue}"
        planned = planned._replace(command=replace(planned.command, prologue=prologue))
    result = await execute(engine, planned, profile, observers=observers)
    if notices.notices:
        notices.told(_STATELESS)
    return result


def run_sync(command: str, **options: Any) -> ShellResult:
    """`run` for code without an event loop; inside one, the command runs on a thread with a loop of its own.

    >>> import nacre
    >>> nacre.run_sync("exit 3").exit_code
    3
    """
    return wait_for(lambda: run(command, **options))


def wait_for(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Do the work to its end in an event loop of its own: on this thread, or on another where this one has a loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    return _wait_on_thread(work)


def _wait_on_thread(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    # Only needed here, and more than half a millisecond to load.
    from concurrent.futures import ThreadPoolExecutor

    begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[T]]] = Future()

    async def perform() -> T:
        task = asyncio.current_task()
        assert task is not None
        begun.set_result((asyncio.get_running_loop(), task))
        return await work()

    with ThreadPoolExecutor(1, thread_name_prefix="nacre-run-sync") as pool:
        done = pool.submit(lambda: asyncio.run(perform()))
        try:
            return done.result()
        except BaseException:
            # An interrupt of this thread must end the command, which it would otherwise wait for.
            if not done.done():
                loop, task = begun.result()
                # A loop that is closed has nothing left to end.
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(task.cancel)
            raise


_SESSION_PROFILE = replace(PROFILE, contract="session", persists=True)
_numbers = itertools.count(1)


class Session:
    """One persistent bash: directory, variables, functions and options stay from one command to the next.

    A timeout, a cancelled call, a killed shell or `exit` cost the process, not the state: the next command gets a fresh
    bash that was brought into it, and its result says so. Commands run one at a time.

    >>> import asyncio, nacre
    >>> async def main():
    ...     async with nacre.Session(cwd="/") as session:
    ...         await session.run("cd /tmp; greeting=hello")
    ...         return (await session.run('echo "$greeting from $PWD"')).text
    >>> asyncio.run(main())
    'hello from /tmp\\n'
    """

    def __init__(
        self,
        *,
        cwd: str | os.PathLike[str] | None = None,
        settings: Settings | None = None,
        backend: Backend | None = None,
    ) -> None:
        """Choose where it runs; the shell is started by the first command.

        Args:
            backend: where the shell runs, if not on this machine: what `nacre.connect` gives.
        """
        there = place.directory_at(backend)
        self._cwd = config.absolute(cwd) if cwd is not None else there or config.working_directory()
        self._settings = settings
        self._backend = backend
        self._key = f"of program {next(_numbers)}"
        self._engine: Engine | None = None
        self._ending: weakref.finalize[..., Session] | None = None
        self._inner: ShellSession | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @property
    def cwd(self) -> str:
        """Where the next command runs."""
        known = None if self._engine is None else self._engine.known_session(self._key)
        return self._cwd if known is None else known.cwd

    async def run(
        self,
        command: str,
        *,
        timeout: float | None = None,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> ShellResult:
        """Run a command to its end in the session's shell.

        Args:
            timeout: seconds; the setting `execution.timeout_seconds` (300) unless given. Waiting for an earlier
                command counts.
            cwd: a directory for this command alone.
            env: variables for this command alone.
        """
        engine, session = self._enter()
        planner = engine.planner
        plain = cwd is None and env is None and not engine.notices.notices
        if plain and (timeout is None or type(timeout) is float) and isinstance(command, str):
            key = (_SESSION_PROFILE, command, timeout, session.cwd, planner.environment.generation)
            planned = planner.known.get(key)
            if planned is None:
                planned = self._plan(engine, command, timeout, session.cwd, None, None)
                planner.remember(key, planned)
        else:
            planned = self._plan(engine, command, timeout, session.cwd, cwd, env)
        result = await execute(engine, planned, _SESSION_PROFILE, session=session)
        engine.notices.told(self._key)
        return result

    async def run_request(self, request: ShellRequest, *, passthrough: Passthrough | None = None) -> ShellResult:
        """Run what a surface has made of a command: what is judged may differ from what is run.

        Args:
            passthrough: given the output as it comes, without hidden values.
        """
        check_call(request.command, timeout=request.timeout, env=request.env)
        engine, session = self._enter()
        if engine.confining is not None:
            request = replace(request, ground=Ground(self._cwd, self._key))
        planned = engine.planner.plan(engine.notices.add(request, self._key), _SESSION_PROFILE, cwd=session.cwd)
        observers = Observers(passthrough=passthrough)
        result = await execute(engine, planned, _SESSION_PROFILE, observers=observers, session=session)
        engine.notices.told(self._key)
        return result

    def _enter(self) -> tuple[Engine, ShellSession]:
        engine = self._engine
        if engine is None:
            engine = self._engine = from_environment(settings=self._settings, backend=self._backend)
            # A session that is dropped without being closed ends its shell.
            self._ending = weakref.finalize(self, engine.end_session, self._key)
            self._ending.atexit = False
            if not has_shells(engine, _SESSION_PROFILE):
                raise BackendUnavailableError(
                    "a session needs the warden, which cannot run here; see `nacre doctor`"
                    if self._backend is None
                    else "this place has no shells for sessions; use nacre.run"
                )
        session = self._inner
        if session is None or not session.alive:
            session = self._inner = engine.session(self._key, cwd=self._cwd)
        return engine, session

    def _plan(
        self,
        engine: Engine,
        command: str,
        timeout: float | None,
        here: str,
        cwd: str | os.PathLike[str] | None,
        env: Mapping[str, str] | None,
    ) -> Plan:
        check_call(command, timeout=timeout, env=env)
        request = ShellRequest(
            command=command,
            timeout=engine.settings.execution.timeout_seconds if timeout is None else timeout,
            cwd=None if cwd is None else os.fspath(cwd),
            env=env or None,
            ground=None if engine.confining is None else Ground(self._cwd, self._key),
        )
        return engine.planner.plan(engine.notices.add(request, self._key), _SESSION_PROFILE, cwd=here)

    async def restart(self) -> None:
        """End the shell and forget its state."""
        if self._engine is not None:
            self._engine.session(self._key, cwd=self._cwd).restart()

    async def aclose(self) -> None:
        """End the shell with everything below it."""
        if self._ending is not None:
            self._ending()
        self._engine = self._inner = self._ending = None
