"""Calls a function that may block on a thread that no exit of the program waits for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def on_thread(function: Callable[[], T], seconds: float) -> T:
    """Call a function on a thread that no exit of the program waits for; raises TimeoutError after so long."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if not answer.done():
            if error is not None:
                answer.set_exception(error)
            else:
                answer.set_result(result)  # type: ignore[arg-type]

    def work() -> None:
        try:
            result, error = function(), None
        except BaseException as raised:  # noqa: BLE001 - raised again in the caller
            result, error = None, raised
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:
            return  # the loop is closed

    threading.Thread(target=work, name="nacre-files", daemon=True).start()
    async with asyncio.timeout(seconds):
        return await answer
