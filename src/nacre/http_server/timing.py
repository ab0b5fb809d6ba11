"""Time limits for requests, applied before anything of a request is looked at."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

# The longest time for the headers of a request to arrive, and then for its body. A client sends both at once.
HEADER_SECONDS = 10.0
BODY_SECONDS = 30.0

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def with_body_limit(receive: Receive) -> Receive:
    """Limit the time for the body of a request; a slower client counts as gone."""
    end = asyncio.get_running_loop().time() + BODY_SECONDS
    whole = False

    async def limited() -> Message:
        nonlocal whole
        if whole:
            return await receive()
        try:
            async with asyncio.timeout_at(end):
                message = await receive()
        except TimeoutError:
            whole = True
            return {"type": "http.disconnect"}
        whole = not message.get("more_body", False)
        return message

    return limited


class TimedProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """HTTP with a time limit for the headers of a request.

    The same limit applies to bytes that follow an answer which did not read the body.
    """

    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_expecting()
        elif self._limit is None:
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_expecting()
        super().connection_lost(exc)

    def _expect(self) -> None:
        self._limit = asyncio.get_running_loop().call_later(HEADER_SECONDS, self.transport.abort)

    def _stop_expecting(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None
