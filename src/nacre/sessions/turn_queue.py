"""The order of a session's commands: one at a time, first come, first served."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from nacre.errors import SessionBusyError

# A command's text in a message is cut to this length.
LABEL_CHARACTERS = 80


class TurnQueue:
    """Gives commands their turns; a turn is taken, and passed on when its command has ended."""

    def __init__(self) -> None:
        self._label: Callable[[], str] | None = None
        """Spells the running command."""
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def busy(self) -> bool:
        return self._label is not None

    def running_command(self) -> str:
        return "" if self._label is None else self._label()[:LABEL_CHARACTERS]

    async def take(self, label: Callable[[], str], limit: float | None) -> None:
        """Wait for the turn of the command that `label` spells.

        Raises:
            SessionBusyError: another command ran for longer than the limit, in seconds.
        """
        if self._label is not None:
            await self._wait(limit)
        self._label = label

    async def _wait(self, limit: float | None) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            async with asyncio.timeout(limit):
                await turn
        except BaseException as error:
            if turn in self._waiting:
                self._waiting.remove(turn)
            elif turn.done() and not turn.cancelled():
                # The turn came in the same moment.
                self.pass_on()
            if isinstance(error, TimeoutError):
                raise SessionBusyError(
                    f"timed out after {limit:g} s waiting for the session's running command: "
                    f"{self.running_command()!r}; wait for it, or run this one in another session"
                ) from error
            raise

    def pass_on(self) -> None:
        """End the turn; the next waiting command has its turn."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done() and not turn.get_loop().is_closed():
                turn.set_result(None)
                return
        self._label = None

    def clear(self) -> None:
        """Forget every command, in a process that was forked from theirs."""
        self._label = None
        self._waiting.clear()
