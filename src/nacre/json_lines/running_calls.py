"""The calls of one client that are being answered, each as a task whose result is the line of its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

# A call that came this shortly before the end of input may still end by itself.
LAST_SECONDS = 2.0

Request = TypeVar("Request")


@dataclass(eq=False, slots=True)
class RunningCall(Generic[Request]):
    """A request that is being answered."""

    request: Request
    asked_at: float
    """On the clock of the loop."""
    task: asyncio.Task[bytes] = field(init=False)
    _aborted: bool = False

    def abort(self) -> None:
        """Cancel the task once: a second cancellation would interrupt its cleanup."""
        if not self._aborted:
            self._aborted = True
            self.task.cancel()


class RunningCalls(Generic[Request]):
    """Starts calls, waits for the last ones at the end of input, and aborts the rest."""

    def __init__(
        self,
        answer: Callable[[RunningCall[Request]], Coroutine[Any, Any, bytes]],
        ended: Callable[[RunningCall[Request], asyncio.Task[bytes]], None],
    ) -> None:
        """Take what answers a call, and what is told of the end of its task."""
        self._answer = answer
        self._ended = ended
        self._calls: set[RunningCall[Request]] = set()

    def __len__(self) -> int:
        return len(self._calls)

    def __iter__(self) -> Iterator[RunningCall[Request]]:
        return iter(list(self._calls))

    def start(self, request: Request) -> None:
        call = RunningCall(request, asyncio.get_running_loop().time())
        self._calls.add(call)
        call.task = asyncio.create_task(self._answer(call))
        call.task.add_done_callback(partial(self._end, call))

    def _end(self, call: RunningCall[Request], task: asyncio.Task[bytes]) -> None:
        self._calls.discard(call)
        self._ended(call, task)

    async def wait_for_last(self) -> None:
        """Give calls that came shortly before the end of input the time to end by themselves."""
        if self._calls:
            last = max(call.asked_at for call in self._calls)
            left = last + LAST_SECONDS - asyncio.get_running_loop().time()
            await asyncio.wait([call.task for call in self._calls], timeout=max(left, 0.0))

    async def end(
        self, is_aborted: Callable[[Request], bool] = lambda _: True, *, beside: Sequence[asyncio.Task[None]] = ()
    ) -> None:
        """Abort calls and cancel the tasks beside them; return when every call and task has ended."""
        for task in beside:
            task.cancel()
        for call in self._calls:
            if is_aborted(call.request):
                call.abort()
        ending = [*beside, *(call.task for call in self._calls)]
        if ending:
            await asyncio.wait(ending)
