"""The way back to the client of one call: what a handler may tell and ask while it works."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol


class CallChannel(Protocol):
    session: str | None
    """The shell session of the connection; None where the transport has no connections."""
    connection: object
    """The same object for all calls of one connection."""
    gone: asyncio.Event | None
    """Set once the client cannot read the answer any more; None where the transport cancels the call itself."""

    async def report(self, seconds: float, text: str) -> None:
        """Tell the client how long the call has run, and its newest output."""

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask the client, in the handshake era.

        Raises:
            RpcError: the client refuses.
        """

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Tell the client something that belongs to no call."""
