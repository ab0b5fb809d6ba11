"""A tool as an agent's author holds it: a contract around the engine.

decode → run or keep → present. Errors before the start become the contract's own refusal; a cancelled call raises.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Self

from nacre import config
from nacre import engine as engines
from nacre.contracts import contract_named
from nacre.contracts.contract import Reply, Scene
from nacre.errors import NacreError
from nacre.execution.live import INTERVAL_SECONDS, LiveTail
from nacre.policy.approval import Approver
from nacre.profile import Background
from nacre.result import ShellResult
from nacre.settings import Settings


@dataclass(frozen=True, slots=True)
class Update:
    """The newest output of a running command: its whole current tail."""

    text: str


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
        contract: str = "workspace",
        *,
        cwd: str | os.PathLike[str] | None = None,
        settings: Settings | None = None,
        approver: Approver | None = None,
    ) -> None:
        self._contract = contract_named(contract)
        self._cwd = None if cwd is None else os.path.abspath(cwd)
        self._settings = settings
        self._approver = approver
        self._engine: engines.Engine | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Give back what the tool holds."""
        self._engine = None

    @property
    def cwd(self) -> str:
        return self._cwd if self._cwd is not None else config.working_directory()

    @property
    def engine(self) -> engines.Engine:
        if self._engine is None:
            self._engine = engines.from_environment(cwd=self.cwd, settings=self._settings, approver=self._approver)
        return self._engine

    def schema(self) -> dict[str, Any]:
        """Name, description and input schema, as a model sees them."""
        return self._contract.schema(Scene(self.cwd))

    async def call(self, arguments: object) -> Reply:
        """Run one tool call. Whatever the model sent is answered, not raised."""
        return await self._call(arguments, None)

    async def _call(self, arguments: object, live: LiveTail | None) -> Reply:
        try:
            return self._contract.present(await self._execute(arguments, live))
        except NacreError as error:
            return self._contract.refuse(error)

    async def _execute(self, arguments: object, live: LiveTail | None) -> ShellResult | Background:
        request = self._contract.decode(arguments)
        profile = self._contract.profile
        if request.mode == "background":
            return await self.engine.background(request, profile, cwd=self.cwd)
        return await self.engine.run(request, profile, cwd=self.cwd, live=live)

    async def stream(self, arguments: object) -> AsyncIterator[Update | Reply]:
        """Run one tool call and yield its live tail, then the reply.

        A slow reader slows nothing down: what it misses is in the next update. Leaving early stops the command.
        """
        live = LiveTail()
        call = asyncio.create_task(self._call(arguments, live))
        call.add_done_callback(lambda _: live.end())
        try:
            while (text := await live.next()) is not None:
                yield Update(text)
                await asyncio.wait([call], timeout=INTERVAL_SECONDS)
            yield await call
        finally:
            call.cancel()
            await asyncio.wait([call])
