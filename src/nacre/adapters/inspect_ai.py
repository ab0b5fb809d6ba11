"""inspect_ai: the sandbox provider `nacre`. Commands run on this machine, contained, guarded and redacted by nacre.

Each sample has its own directory. Processes that its commands leave running end with the sample. An evaluation that
runs as root should name a user: commands and file accesses are then that user's, and `user="root"` still works.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator
from typing import Any, Literal, overload

from nacre.adapters.framework import framework
from nacre.adapters.identity import User, access_files, may_execute, user_named
from nacre.adapters.program import program_profile, run_program
from nacre.contracts.basic import NOT_EXECUTABLE
from nacre.errors import BackendError, DeniedError, InvalidRequestError, WorkingDirectoryError
from nacre.result import Lost, ShellResult, Stopped, TimedOut
from nacre.warden import children

with framework("inspect-ai"):
    from inspect_ai.util import (
        ExecResult,
        OutputLimitExceededError,
        SandboxEnvironment,
        SandboxEnvironmentConfigType,
        SandboxEnvironmentLimits,
        SandboxUnavailableError,
        SandboxUserUnsupportedError,
        concurrency,
        sandboxenv,
    )
    from inspect_ai.util._subprocess import max_subprocesses_context_var
    from pydantic import BaseModel


class NacreSandboxConfig(BaseModel, frozen=True):
    """The options: `sandbox=SandboxEnvironmentSpec("nacre", NacreSandboxConfig(user="nobody"))`."""

    user: str | None = None
    """The user for commands and files if a call names none; by default the user of the evaluation."""
    directory: str | None = None
    """The parent of the samples' directories; by default the system's temporary directory."""


@sandboxenv(name="nacre")
class NacreSandboxEnvironment(SandboxEnvironment):
    """The sandbox of one sample."""

    def __init__(self, config: NacreSandboxConfig) -> None:
        super().__init__()
        self._user = _user(config.user)
        self.directory = tempfile.mkdtemp(prefix="nacre-sandbox-", dir=config.directory)
        if self._user is not None:
            os.chown(self.directory, self._user.uid, self._user.gid)
        # Processes that commands left running: pids, with pidfds that stay valid if a pid is reused.
        self._left: list[tuple[int, int]] = []

    @classmethod
    async def sample_init(
        cls, task_name: str, config: SandboxEnvironmentConfigType | None, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        if config is not None and not isinstance(config, NacreSandboxConfig):
            raise ValueError(f"the configuration of the sandbox must be a NacreSandboxConfig, got {config!r}")
        return {"default": cls(config or NacreSandboxConfig())}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        for environment in environments.values():
            environment.as_type(cls).end()
            shutil.rmtree(environment.as_type(cls).directory)

    def end(self) -> None:
        """Kill the processes that commands left running, with their descendants."""
        for pid, handle in self._left:
            try:
                # Stopped first, so that it cannot fork meanwhile.
                signal.pidfd_send_signal(handle, signal.SIGSTOP)
                children.signal_tree(pid, signal.SIGKILL)
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            except ProcessLookupError:
                pass  # it has ended by itself
            finally:
                os.close(handle)
        self._left.clear()

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> BaseModel:
        return NacreSandboxConfig(**config)

    def default_polling_interval(self) -> float:
        # A poll costs a few milliseconds, as in the framework's local sandbox.
        return 0.2

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        # `timeout_retry` is for transports that can hang; here a second try would run the command twice.
        who = self._user if user is None else _user(user)
        directory = self._path(cwd or "")
        async with _throttled(wanted=concurrency):
            result = await _run(cmd, cwd=directory, env=env, timeout=timeout, input=input, user=who)
        for survivor in result.survivors:
            with contextlib.suppress(ProcessLookupError):
                self._left.append((survivor.pid, os.pidfd_open(survivor.pid)))
        return _answer(result, cmd, env or {}, directory, who)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        path = self._path(file)

        def write() -> None:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as opened:
                opened.write(contents.encode() if isinstance(contents, str) else contents)

        await access_files(self._user, write)

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...
    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...
    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        path = self._path(file)
        # Read here, because the limit is in the context of the caller, not of the thread.
        most = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE

        def read() -> bytes | None:
            with open(path, "rb") as opened:
                contents = opened.read(most + 1)
            return contents if len(contents) <= most else None

        contents = await access_files(self._user, read)
        if contents is None:
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None)
        return contents.decode() if text else contents

    def _path(self, path: str) -> str:
        return os.path.join(self.directory, path)


async def _run(cmd: list[str], **options: Any) -> ShellResult:
    """Run the command; raise a failure to start it as an error of the framework."""
    limit = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
    try:
        return await run_program(cmd, program_profile("inspect", limit_bytes=limit), **options)
    except DeniedError as error:
        raise PermissionError(str(error)) from error
    except WorkingDirectoryError as error:
        raise FileNotFoundError(str(error)) from error
    except BackendError as error:
        raise SandboxUnavailableError(str(error)) from error


def _answer(
    result: ShellResult, cmd: list[str], env: dict[str, str], directory: str, user: User | None
) -> ExecResult[str]:
    assert result.stderr is not None
    match result.outcome:
        case TimedOut(limit):
            raise TimeoutError(f"the command ran longer than {limit:g} s and was killed with all its processes")
        case Stopped() if result.clock == "output_bytes":
            raise OutputLimitExceededError(str(result.output.total_bytes), result.output.text)
        case Stopped(by) if result.clock != "stop":
            raise TimeoutError(f"the command was killed with all its processes: {by}")
        case Stopped() | Lost():
            raise SandboxUnavailableError(f"how the command ended is not known: {result.outcome}")
    code = result.exit_code
    assert code is not None
    if code == NOT_EXECUTABLE and (found := _find(cmd[0], env, directory)) and not may_execute(user, found):
        raise PermissionError(f"{found} may not be executed")
    for output in (result.output, result.stderr):
        if output.truncation is not None:
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR, output.text)
    return ExecResult(code == 0, code, result.output.text, result.stderr.text)


@contextlib.asynccontextmanager
async def _throttled(*, wanted: bool) -> AsyncIterator[None]:
    """Wait for one of the framework's slots for subprocesses, if the caller wants that."""
    if not wanted:
        yield
        return
    async with concurrency("subprocesses", max_subprocesses_context_var.get(), resizable=True):
        yield


def _user(name: str | None) -> User | None:
    try:
        return user_named(name)
    except InvalidRequestError as error:
        raise SandboxUserUnsupportedError(str(error)) from error


def _find(program: str, env: dict[str, str], directory: str) -> str | None:
    """Return the file of a program, executable or not."""
    if "/" in program:
        path = os.path.join(directory, program)
        return path if os.path.exists(path) else None
    for place in env.get("PATH", os.environ.get("PATH", os.defpath)).split(os.pathsep):
        if os.path.exists(path := os.path.join(directory, place, program)):
            return path
    return None
