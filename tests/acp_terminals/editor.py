"""An editor that knows nothing of nacre: the terminal methods of an ACP client on plain processes.

It can be told to be silent or to refuse, method by method, as real ones are on a bad day.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Collection
from typing import Any

from acp import RequestError
from acp.schema import (
    CreateTerminalResponse,
    EnvVariable,
    KillTerminalResponse,
    ReleaseTerminalResponse,
    TerminalOutputResponse,
    WaitForTerminalExitResponse,
)


class Pane:
    """A process that writes to a file."""

    def __init__(self, argv: list[str], *, cwd: str | None, env: dict[str, str], limit: int) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - close does
        self._limit = limit
        self.process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=self._file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def show(self) -> tuple[str, bool]:
        size = os.fstat(self._file.fileno()).st_size
        data = os.pread(self._file.fileno(), self._limit, max(0, size - self._limit))
        return data.decode("utf-8", "replace"), size > self._limit

    async def wait(self) -> int:
        while (code := self.process.poll()) is None:
            await asyncio.sleep(0.005)
        return code

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        self.kill()
        self.process.wait()
        self._file.close()


class Editor:
    """Keeps count of its terminals; `go` lets what is silent speak again."""

    def __init__(
        self, *, silent: Collection[str] = (), refusing: Collection[str] = (), most_bytes: int = 1 << 30
    ) -> None:
        self.silent = set(silent)
        self.refusing = set(refusing)
        self.most_bytes = most_bytes
        self.go = asyncio.Event()
        self.panes: dict[str, Pane] = {}
        self.asked: list[str] = []
        self.argv: list[str] = []
        self.env: dict[str, str] = {}

    @property
    def created(self) -> int:
        return self.asked.count("create")

    async def _asked(self, method: str) -> None:
        self.asked.append(method)
        if method in self.refusing:
            raise RequestError.internal_error({"details": f"{method} is not possible today"})
        if method in self.silent:
            await self.go.wait()

    async def create_terminal(
        self,
        session_id: str,
        command: str,
        args: list[str] | None = None,
        env: list[EnvVariable] | None = None,
        cwd: str | None = None,
        output_byte_limit: int | None = None,
        **_: Any,
    ) -> CreateTerminalResponse:
        await self._asked("create")
        terminal_id = f"t{self.created}"
        self.argv = [command, *(args or [])]
        self.env = {variable.name: variable.value for variable in env or []}
        limit = min(output_byte_limit or self.most_bytes, self.most_bytes)
        self.panes[terminal_id] = Pane(self.argv, cwd=cwd, env={**os.environ, **self.env}, limit=limit)
        return CreateTerminalResponse(terminal_id=terminal_id)

    async def terminal_output(self, session_id: str, terminal_id: str, **_: Any) -> TerminalOutputResponse:
        await self._asked("output")
        output, truncated = self.panes[terminal_id].show()
        return TerminalOutputResponse(output=output, truncated=truncated)

    async def wait_for_terminal_exit(self, session_id: str, terminal_id: str, **_: Any) -> WaitForTerminalExitResponse:
        await self._asked("wait")
        code = await self.panes[terminal_id].wait()
        if code < 0:
            return WaitForTerminalExitResponse(signal=signal.Signals(-code).name)
        return WaitForTerminalExitResponse(exit_code=code)

    async def kill_terminal(self, session_id: str, terminal_id: str, **_: Any) -> KillTerminalResponse:
        await self._asked("kill")
        self.panes[terminal_id].kill()
        return KillTerminalResponse()

    async def release_terminal(self, session_id: str, terminal_id: str, **_: Any) -> ReleaseTerminalResponse:
        await self._asked("release")
        self.panes.pop(terminal_id).close()
        return ReleaseTerminalResponse()

    def close(self) -> None:
        while self.panes:
            self.panes.popitem()[1].close()
