"""swe-rex: a runtime with nacre's sessions, in place of `LocalRuntime`, with the same requests and answers.

Differences: a timeout ends the command and keeps the state of the session, so nothing is left to interrupt. The
variables of `execute` are added to the filtered environment instead of replacing it. Only an interactive program has a
terminal, and its command changes no state of the session; while it runs, every command is typed into it. Notices go to
the logger, because the answers have no place for them.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

from nacre import config
from nacre.adapters.framework import framework
from nacre.adapters.program import NO_LIMIT_SECONDS, program_profile, run_program
from nacre.adapters.relayed_terminal import Shown
from nacre.adapters.swe_rex_programs import DENIED, INTERRUPTED, NEWEST_CHARACTERS, Programs, plain, refused
from nacre.api import Session
from nacre.command import SHELL, Streams
from nacre.errors import RefusedError
from nacre.output.decode import decode
from nacre.request import ShellRequest
from nacre.result import ShellResult, Stopped, TimedOut
from nacre.settings import MIB

with framework("swe-rex"):
    from swerex.exceptions import (
        BashIncorrectSyntaxError,
        CommandTimeoutError,
        NoExitCodeError,
        NonZeroExitCodeError,
        SessionDoesNotExistError,
        SessionExistsError,
    )
    from swerex.runtime.abstract import (
        AbstractRuntime,
        BashAction,
        BashInterruptAction,
        BashObservation,
        CloseBashSessionResponse,
        CloseResponse,
        CloseSessionRequest,
        Command,
        CommandResponse,
        CreateBashSessionResponse,
        CreateSessionRequest,
        IsAliveResponse,
        ReadFileRequest,
        ReadFileResponse,
        UploadRequest,
        UploadResponse,
        WriteFileRequest,
        WriteFileResponse,
    )

# As much as an artifact holds.
LIMIT_BYTES = 64 * MIB


class NacreRuntime(AbstractRuntime):
    """Runs the requests of swe-rex on this machine.

    Most of its methods are the interface of swe-rex.
    """

    def __init__(self, *, cwd: str | os.PathLike[str] = ".", logger: logging.Logger | None = None) -> None:
        """Make a runtime whose commands begin in `cwd`."""
        self.logger = logger or logging.getLogger(__name__)
        self._cwd = config.absolute(cwd)
        self._sessions: dict[str, Session] = {}
        self._running: dict[str, asyncio.Task[ShellResult]] = {}
        self._programs = Programs(self.logger)

    async def is_alive(self, *, timeout: float | None = None) -> IsAliveResponse:
        return IsAliveResponse(is_alive=True)

    # Sessions.

    async def create_session(self, request: CreateSessionRequest) -> CreateBashSessionResponse:
        if request.session in self._sessions:
            raise SessionExistsError(f"session {request.session} already exists")
        session = self._sessions[request.session] = Session(cwd=self._cwd)
        if not request.startup_source:
            return CreateBashSessionResponse()
        script = "; ".join(f"source {shlex.quote(path)}" for path in request.startup_source)
        result = await session.run(script, timeout=request.startup_timeout)
        if isinstance(result.outcome, TimedOut):
            await session.aclose()
            del self._sessions[request.session]
            raise CommandTimeoutError(f"timeout after {request.startup_timeout} seconds while running {script!r}")
        return CreateBashSessionResponse(output=_text(result))

    async def run_in_session(self, action: BashAction | BashInterruptAction) -> BashObservation:
        session = self._session(action.session)
        expected = [re.compile(pattern, re.DOTALL) for pattern in action.expect]
        program = self._programs.running(action.session)
        if isinstance(action, BashInterruptAction):
            if program is None:
                return await self._interrupt(action.session)
            return await self._programs.interrupt(program, action, expected)
        interactive = action.is_interactive_command or action.is_interactive_quit
        if program is not None:
            program.type(f"{action.command}\n")
            observation = await self._programs.wait(program, action, expected)
        elif interactive or expected:
            await self._check_syntax(action.command)
            observation = await self._programs.start(session, action, expected)
        else:
            observation = await self._run(session, action)
        if action.check == "raise" and not interactive and observation.exit_code != 0:
            raise NonZeroExitCodeError(
                _failure(
                    action.error_msg,
                    f"Command {action.command!r} failed with exit code {observation.exit_code}. "
                    f"Here is the output:\n{observation.output!r}",
                )
            )
        return observation

    async def _run(self, session: Session, action: BashAction) -> BashObservation:
        if not action.command.strip():
            return BashObservation(exit_code=None if action.check == "ignore" else 0)
        await self._check_syntax(action.command)
        limit = NO_LIMIT_SECONDS if action.timeout is None else action.timeout
        shown = Shown(NEWEST_CHARACTERS)
        request = ShellRequest(command=action.command, timeout=limit)
        running = asyncio.create_task(session.run_request(request, passthrough=shown.feed))
        self._running[action.session] = running
        try:
            # The task is not awaited directly: an interrupt cancels the command, not its caller.
            await asyncio.wait([running])
        except asyncio.CancelledError:
            running.cancel()
            await asyncio.wait([running])
            raise
        finally:
            if self._running.get(action.session) is running:
                del self._running[action.session]
        if running.cancelled():
            return BashObservation(output=plain(shown.take()), exit_code=INTERRUPTED, failure_reason="interrupted")
        try:
            result = running.result()
        except RefusedError as error:
            return refused(error)
        self._log_notices(result)
        if isinstance(result.outcome, TimedOut):
            raise CommandTimeoutError(
                f"timeout after {action.timeout} seconds while running command {action.command!r}; "
                f"its output until then:\n{_text(result)}"
            )
        if isinstance(result.outcome, Stopped) and result.clock != "stop":
            raise CommandTimeoutError(
                f"{result.outcome.by} while running command {action.command!r}; its output until then:\n{_text(result)}"
            )
        if result.exit_code is None and action.check == "raise":
            raise NoExitCodeError(f"how {action.command!r} ended is not known: {result.outcome}")
        return BashObservation(output=_text(result), exit_code=None if action.check == "ignore" else result.exit_code)

    async def _check_syntax(self, command: str) -> None:
        """Raise an error if bash cannot parse the whole command, before any of it runs."""
        result = await run_program(
            [SHELL, "-n"], program_profile("swe-rex", limit_bytes=LIMIT_BYTES), cwd=self._cwd, input=f"{command}\n"
        )
        assert result.stderr is not None
        if not result.ok:
            raise BashIncorrectSyntaxError(
                f"Error (exit code {result.exit_code}) while checking bash command \n{command!r}\n"
                f"---- Stderr ----\n{result.stderr.text}\n---- Stdout ----\n{result.text}",
                extra_info={"bash_stdout": result.text, "bash_stderr": result.stderr.text},
            )

    async def _interrupt(self, name: str) -> BashObservation:
        if (running := self._running.get(name)) is not None:
            running.cancel()
            await asyncio.wait([running])
        return BashObservation(exit_code=0)

    async def close_session(self, request: CloseSessionRequest) -> CloseBashSessionResponse:
        session = self._session(request.session)
        await self._programs.end(request.session)
        await self._interrupt(request.session)
        await session.aclose()
        del self._sessions[request.session]
        return CloseBashSessionResponse()

    def _session(self, name: str) -> Session:
        if name not in self._sessions:
            raise SessionDoesNotExistError(f"session {name!r} does not exist")
        return self._sessions[name]

    # Programs.

    async def execute(self, command: Command) -> CommandResponse:
        streams: Streams = "merged" if command.merge_output_streams else "split"
        try:
            result = await run_program(
                _argv(command),
                program_profile("swe-rex", limit_bytes=LIMIT_BYTES, streams=streams),
                cwd=os.path.join(self._cwd, command.cwd or ""),
                env=command.env,
                timeout=command.timeout,
            )
        except RefusedError as error:
            response = CommandResponse(stderr=f"{error}\n", exit_code=DENIED)
        else:
            self._log_notices(result)
            if isinstance(result.outcome, TimedOut):
                raise CommandTimeoutError(f"Timeout ({command.timeout}s) exceeded while running command")
            if isinstance(result.outcome, Stopped) and result.clock != "stop":
                raise CommandTimeoutError(f"{result.outcome.by} while running command")
            stderr = "" if result.stderr is None else result.stderr.text
            response = CommandResponse(stdout=result.text, stderr=stderr, exit_code=result.exit_code)
        if command.check and response.exit_code != 0:
            raise NonZeroExitCodeError(
                _failure(
                    command.error_msg,
                    f"Command {command.command!r} failed with exit code {response.exit_code}. "
                    f"Stdout:\n{response.stdout!r}\nStderr:\n{response.stderr!r}",
                )
            )
        return response

    def _log_notices(self, result: ShellResult) -> None:
        for notice in result.notices:
            self.logger.info("%s: %s", result.command, notice)

    # Files.

    async def read_file(self, request: ReadFileRequest) -> ReadFileResponse:
        encoding = request.encoding or "utf-8"
        content = await asyncio.to_thread(self._path(request.path).read_text, encoding=encoding, errors=request.errors)
        return ReadFileResponse(content=content)

    async def write_file(self, request: WriteFileRequest) -> WriteFileResponse:
        def write() -> None:
            path = self._path(request.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(request.content, encoding="utf-8")

        await asyncio.to_thread(write)
        return WriteFileResponse()

    async def upload(self, request: UploadRequest) -> UploadResponse:
        target = self._path(request.target_path)
        copy: Any = shutil.copytree if os.path.isdir(request.source_path) else shutil.copy
        await asyncio.to_thread(copy, request.source_path, target)
        return UploadResponse()

    def _path(self, path: str) -> Path:
        return Path(self._cwd, path)

    async def close(self) -> CloseResponse:
        async with contextlib.AsyncExitStack() as stack:
            for name, session in self._sessions.items():
                stack.push_async_callback(session.aclose)
                stack.push_async_callback(self._interrupt, name)
                stack.push_async_callback(self._programs.end, name)
        self._sessions.clear()
        return CloseResponse()


def _argv(command: Command) -> list[str]:
    """Return the arguments that `subprocess.run` would use."""
    words = [command.command] if isinstance(command.command, str) else list(command.command)
    return ["/bin/sh", "-c", *words] if command.shell else words


def _text(result: ShellResult) -> str:
    """Return all output without terminal control; the artifact has what the view left out."""
    text = result.text
    artifact = result.artifact
    if result.output.truncation is not None and artifact is not None and not artifact.dropped_bytes:
        text = decode(Path(artifact.path).read_bytes())
    return plain(text)


def _failure(said: str, message: str) -> str:
    return f"{said}: {message}" if said else message
