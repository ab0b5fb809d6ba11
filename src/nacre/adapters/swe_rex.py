"""swe-rex: a runtime whose sessions are nacre's. In place of `LocalRuntime`, with the same requests and answers.

What differs is said here. A timeout ends the command and keeps the session's state, so nothing is left to interrupt. A
variable of `execute` is added to the filtered environment and does not replace it. Only an interactive program has a
terminal, and what its command changes in its shell does not stay; while it runs, whatever is sent is typed into it.
Notices, for which the answers have no place, go to the logger.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

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

from nacre import config
from nacre.adapters.program import NO_LIMIT_SECONDS, program_profile, run_program
from nacre.adapters.terminal import INTERRUPT, Met, Shown, TerminalProgram
from nacre.api import Session
from nacre.command import SHELL, Streams
from nacre.errors import RefusedError
from nacre.output.decode import decode
from nacre.output.escapes import strip
from nacre.request import ShellRequest
from nacre.result import ShellResult, TimedOut
from nacre.settings import MIB

# As much as an artifact holds.
LIMIT_BYTES = 64 * MIB
# What is told of a command that is interrupted, and of a program between two answers; all of it is in the artifact.
NEWEST_CHARACTERS = 50 * 1024
SHOWN_CHARACTERS = 4 * MIB
# What `nacre run` and a shell exit with: the command was denied, or ended by an interrupt.
DENIED, INTERRUPTED = 126, 130


class NacreRuntime(AbstractRuntime):
    def __init__(self, *, cwd: str | os.PathLike[str] = ".", logger: logging.Logger | None = None) -> None:
        """Make a runtime whose commands begin in `cwd`."""
        self.logger = logger or logging.getLogger(__name__)
        self._cwd = config.absolute(cwd)
        self._sessions: dict[str, Session] = {}
        self._running: dict[str, asyncio.Task[ShellResult]] = {}
        self._programs: dict[str, TerminalProgram] = {}

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
        program = self._program(action.session)
        if isinstance(action, BashInterruptAction):
            if program is None:
                return await self._interrupt(action.session)
            return await self._interrupt_program(program, action, expected)
        interactive = action.is_interactive_command or action.is_interactive_quit
        if program is not None:
            program.type(f"{action.command}\n")
            observation = await self._met(program, action, expected)
        elif interactive or expected:
            observation = await self._start_program(session, action, expected)
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
            # Not awaited itself: an interrupt cancels the command, not its caller.
            await asyncio.wait([running])
        except asyncio.CancelledError:
            running.cancel()
            await asyncio.wait([running])
            raise
        finally:
            if self._running.get(action.session) is running:
                del self._running[action.session]
        if running.cancelled():
            return BashObservation(output=_plain(shown.take()), exit_code=INTERRUPTED, failure_reason="interrupted")
        try:
            result = running.result()
        except RefusedError as error:
            return _refused(error)
        self._tell(result)
        if isinstance(result.outcome, TimedOut):
            raise CommandTimeoutError(
                f"timeout after {action.timeout} seconds while running command {action.command!r}; "
                f"its output until then:\n{_text(result)}"
            )
        if result.exit_code is None and action.check == "raise":
            raise NoExitCodeError(f"how {action.command!r} ended is not known: {result.outcome}")
        return BashObservation(output=_text(result), exit_code=None if action.check == "ignore" else result.exit_code)

    # Programs on a terminal.

    def _program(self, name: str) -> TerminalProgram | None:
        """The program that has this session's terminal."""
        program = self._programs.get(name)
        if program is None or program.running:
            return program
        del self._programs[name]
        self.logger.info("%s ended; it showed: %s", program.command, program.unread()[-NEWEST_CHARACTERS:])
        return None

    async def _start_program(
        self, session: Session, action: BashAction, expected: Sequence[re.Pattern[str]]
    ) -> BashObservation:
        await self._check_syntax(action.command)
        program = TerminalProgram(session, action.command, timeout=NO_LIMIT_SECONDS, most_characters=SHOWN_CHARACTERS)
        self._programs[action.session] = program
        return await self._met(program, action, expected)

    async def _met(
        self, program: TerminalProgram, action: BashAction, expected: Sequence[re.Pattern[str]]
    ) -> BashObservation:
        """Wait for what is expected, or the end; a program that shows neither in time runs on, to be interrupted."""
        try:
            met = await program.wait_for(expected, action.timeout)
        except asyncio.CancelledError:
            await self._end_program(action.session)
            raise
        if met is None:
            raise CommandTimeoutError(
                f"timeout after {action.timeout} seconds while running command {action.command!r}; "
                f"{program.command!r} runs on"
            )
        output = _plain(met.before).strip()
        if action.is_interactive_command:
            # Programs that edit lines show what was typed.
            output = output.removeprefix(action.command.strip()).strip()
        if met.pattern is not None:
            goes_on = action.is_interactive_command or action.is_interactive_quit
            if not goes_on and action.check == "raise":
                raise NoExitCodeError(f"{program.command!r} runs on after {met.pattern!r}: it has no exit code yet")
            return BashObservation(output=output, exit_code=0 if goes_on else None, expect_string=met.pattern)
        self._programs.pop(action.session, None)
        if program.was_ended:
            return BashObservation(output=output, exit_code=INTERRUPTED, failure_reason="interrupted")
        try:
            result = program.result()
        except RefusedError as error:
            return _refused(error)
        self._tell(result)
        return BashObservation(output=output, exit_code=None if action.check == "ignore" else result.exit_code)

    async def _interrupt_program(
        self, program: TerminalProgram, action: BashInterruptAction, expected: Sequence[re.Pattern[str]]
    ) -> BashObservation:
        """Interrupt it as a person would; one that neither ends nor shows what is expected is ended."""
        met: Met | None = None
        for _ in range(action.n_retry):
            program.type(INTERRUPT)
            met = await program.wait_for(expected, action.timeout)
            if met is not None:
                break
        if met is None:
            met = Met(await program.end(), None)
        if met.pattern is None:
            self._programs.pop(action.session, None)
        return BashObservation(output=_plain(met.before).strip(), exit_code=0, expect_string=met.pattern or "")

    async def _end_program(self, name: str) -> None:
        if (program := self._programs.pop(name, None)) is not None:
            await program.end()

    async def _check_syntax(self, command: str) -> None:
        """Nothing of a command is run when bash cannot read all of it."""
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
        await self._end_program(request.session)
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
            self._tell(result)
            if isinstance(result.outcome, TimedOut):
                raise CommandTimeoutError(f"Timeout ({command.timeout}s) exceeded while running command")
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

    def _tell(self, result: ShellResult) -> None:
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
                stack.push_async_callback(self._end_program, name)
        self._sessions.clear()
        return CloseResponse()


def _argv(command: Command) -> list[str]:
    """What `subprocess.run` makes of the same words."""
    words = [command.command] if isinstance(command.command, str) else list(command.command)
    return ["/bin/sh", "-c", *words] if command.shell else words


def _text(result: ShellResult) -> str:
    """All of the output, without what is meant for a terminal: what the view left out is in the artifact."""
    text = result.text
    artifact = result.artifact
    if result.output.truncation is not None and artifact is not None and not artifact.dropped_bytes:
        text = decode(Path(artifact.path).read_bytes())
    return _plain(text)


def _plain(text: str) -> str:
    return strip(text.replace("\r\n", "\n"))


def _refused(error: RefusedError) -> BashObservation:
    return BashObservation(output=f"{error}\n", exit_code=DENIED, failure_reason=str(error))


def _failure(said: str, message: str) -> str:
    return f"{said}: {message}" if said else message
