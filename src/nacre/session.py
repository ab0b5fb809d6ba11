"""`nacre.Session`: commands that share one bash, for programs that want values, not a tool."""

from __future__ import annotations

import itertools
import os
import weakref
from collections.abc import Mapping
from dataclasses import replace
from typing import Self

from nacre import config
from nacre import engine as engines
from nacre.errors import BackendUnavailableError
from nacre.execution.capture import Passthrough
from nacre.planning.plan import Plan
from nacre.request import ShellRequest, check_call
from nacre.result import ShellResult
from nacre.running import PROFILE
from nacre.sessions import session as sessions
from nacre.settings import Settings

_PROFILE = replace(PROFILE, contract="session", persists=True)
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

    def __init__(self, *, cwd: str | os.PathLike[str] | None = None, settings: Settings | None = None) -> None:
        self._cwd = config.absolute(cwd) if cwd is not None else config.working_directory()
        self._settings = settings
        self._key = f"of program {next(_numbers)}"
        self._engine: engines.Engine | None = None
        self._ending: weakref.finalize[..., Session] | None = None
        self._inner: sessions.Session | None = None

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
        if cwd is not None or env is not None or engine.settings.notices:
            planned = self._plan(engine, command, timeout, session.cwd, cwd, env)
            result = await engine.run_in(session, planned, _PROFILE)
            engine.settings_notices_told(self._key)
            return result
        if timeout is not None or not isinstance(command, str):
            check_call(command, timeout=timeout)
        planned = await engine.plan_again(command, timeout, _PROFILE, cwd=session.cwd, review=False)
        return await engine.run_in(session, planned, _PROFILE)

    async def run_request(self, request: ShellRequest, *, passthrough: Passthrough | None = None) -> ShellResult:
        """Run what a surface has made of a command: what is judged may differ from what is run.

        Args:
            passthrough: given the output as it comes, without hidden values.
        """
        check_call(request.command, timeout=request.timeout, env=request.env)
        engine, session = self._enter()
        request = engine.with_settings_notices(request, self._key)
        planned = engine.plan(request, _PROFILE, cwd=session.cwd)
        result = await engine.run_in(session, planned, _PROFILE, passthrough=passthrough)
        engine.settings_notices_told(self._key)
        return result

    def _enter(self) -> tuple[engines.Engine, sessions.Session]:
        engine = self._engine
        if engine is None:
            engine = self._engine = engines.from_environment(settings=self._settings)
            # One that is forgotten without a word takes its shell along.
            self._ending = weakref.finalize(self, engine.end_session, self._key)
            self._ending.atexit = False
            if not engine.backend_for(_PROFILE).keeps:
                raise BackendUnavailableError("a session needs the warden, which cannot run here; see `nacre doctor`")
        session = self._inner
        if session is None or not session.alive:
            session = self._inner = engine.session(self._key, cwd=self._cwd)
        return engine, session

    def _plan(
        self,
        engine: engines.Engine,
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
        )
        return engine.plan(engine.with_settings_notices(request, self._key), _PROFILE, cwd=here)

    async def restart(self) -> None:
        """End the shell and forget its state."""
        if self._engine is not None:
            self._engine.session(self._key, cwd=self._cwd).restart()

    async def aclose(self) -> None:
        """End the shell with everything below it."""
        if self._ending is not None:
            self._ending()
        self._engine = self._inner = self._ending = None
