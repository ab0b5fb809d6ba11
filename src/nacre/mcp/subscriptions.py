"""`subscriptions/listen` of the modern era: one call is one stream of events, until its client cancels it.

The first frame acknowledges what the client asked for, and every frame carries the id of the call. Nothing is sent that
was not asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from nacre.mcp.call_channel import CallChannel
from nacre.mcp.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, RpcError
from nacre.mcp.machine import ServerCall

if TYPE_CHECKING:
    from nacre.mcp.job_notices import Notices

SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"
MOST_STREAMS = 1_024
# Events that wait for a client that does not read; with more its stream ends, and it lists again.
MOST_EVENTS = 1_024

# The flags that a client may ask for; only resources ever change here.
_FLAGS = ("toolsListChanged", "promptsListChanged", "resourcesListChanged")


async def listen(call: ServerCall, channel: CallChannel, notices: Notices) -> Mapping[str, Any]:
    """Serve one stream of events; the result ends it."""
    wanted = _honoured(call.params["notifications"])
    if len(notices.listeners) >= MOST_STREAMS:
        raise RpcError(INTERNAL_ERROR, f"{MOST_STREAMS} streams are open, the most; close one first")
    meta = {"_meta": {SUBSCRIPTION_KEY: call.id}}
    events: asyncio.Queue[str | None] = asyncio.Queue(MOST_EVENTS)
    listener = _listener(events)
    notices.listeners.append(listener)
    try:
        await channel.notify("notifications/subscriptions/acknowledged", {"notifications": wanted, **meta})
        while (uri := await events.get()) is not None:
            if uri in wanted.get("resourceSubscriptions", ()):
                await channel.notify("notifications/resources/updated", {"uri": uri, **meta})
            if wanted.get("resourcesListChanged"):
                await channel.notify("notifications/resources/list_changed", meta)
    finally:
        notices.listeners.remove(listener)
    return meta


def _listener(events: asyncio.Queue[str | None]) -> Callable[[str], None]:
    def heard(uri: str) -> None:
        try:
            events.put_nowait(uri)
        except asyncio.QueueFull:
            # The oldest event makes room for the end of the stream.
            events.get_nowait()
            events.put_nowait(None)

    return heard


def _honoured(asked: Mapping[str, Any]) -> dict[str, Any]:
    honoured: dict[str, Any] = {flag: True for flag in _FLAGS if asked.get(flag) is True}
    uris = asked.get("resourceSubscriptions")
    if uris is not None and not (isinstance(uris, list) and all(isinstance(uri, str) for uri in uris)):
        raise RpcError(INVALID_PARAMS, "subscriptions/listen: resourceSubscriptions must be a list of strings")
    return honoured | ({"resourceSubscriptions": uris} if uris else {})
