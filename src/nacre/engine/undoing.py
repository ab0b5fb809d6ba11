"""The undo of one call: saves before the command starts, and tells in its result what can be restored."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from nacre.engine.planner import LEAST_SECONDS, directory_of
from nacre.engine.run import until_done
from nacre.errors import BackendUnavailableError
from nacre.kept_command import Background
from nacre.planning.plan import Plan
from nacre.profile import Profile
from nacre.result import ShellResult
from nacre.undo.recorder import Recording, conclude, record
from nacre.undo.undo_store import UndoStore

if TYPE_CHECKING:
    from nacre.backend import Backend
    from nacre.engine.engine import Engine
    from nacre.guard.interpret.shell_state import ShellState

T = TypeVar("T")


class Undoing:
    """What was saved before one command."""

    def __init__(self, engine: Engine, profile: Profile) -> None:
        self._engine = engine
        self._profile = profile
        self._recording: Recording | None = None

    async def before(self, planned: Plan, *, cwd: str | None = None, state: ShellState | None = None) -> Plan:
        """Save what the command would destroy; the time for it is part of the command's own.

        Args:
            cwd: where the shell is, if not where the caller is.
            state: what the shell that runs it has defined.
        """
        limit = planned.command.timeout
        found = await record(
            UndoStore(self._engine.state_dir),
            self._engine.settings.undo,
            planned.request.command,
            shown=planned.logged_command,
            cwd=directory_of(planned, cwd),
            environment=planned.command.env,
            timeout=limit,
            state=state,
            facts={"contract": self._profile.contract},
        )
        if found is None:
            return planned
        if isinstance(found, str):
            return planned.with_notice(found)
        self._recording = found
        if limit is None:
            return planned
        left = max(limit - found.seconds, LEAST_SECONDS)
        command = replace(planned.command, timeout=left)
        return planned._replace(command=command, waited=planned.waited + found.seconds)

    def around(self, attempt: Callable[[Backend, Plan], Awaitable[T]]) -> Callable[[Backend, Plan], Awaitable[T]]:
        """Return the attempt whose result tells what can be restored."""

        async def attempted(place: Backend, planned: Plan) -> T:
            try:
                result = await attempt(place, planned)
            except BackendUnavailableError:
                raise  # it is attempted elsewhere, with what was saved
            except BaseException:
                await self.ended()
                raise
            return await self.after(result)

        return attempted

    async def after(self, result: T) -> T:
        """Return the result with a notice of what can be restored."""
        recording = self._recording
        if recording is None:
            return result
        if isinstance(result, ShellResult):
            notice = await conclude(recording)
            return result if notice is None else replace(result, notices=(*result.notices, notice))
        if isinstance(result, Background):
            recording.entry.write(jobId=result.job_id)
            notice = f"undo: `nacre undo {recording.entry.id}` restores what the job destroys, once it has ended"
            return replace(result, notices=(*result.notices, notice))
        return result

    async def ended(self) -> None:
        """After a call without a result: record what its command has changed, whatever happens to the caller."""
        if self._recording is not None:
            concluding = asyncio.ensure_future(conclude(self._recording))
            await until_done(concluding)
            concluding.result()
