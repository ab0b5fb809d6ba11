"""Serves an agent on stdin and stdout until its client closes either of them."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import acp

from nacre import feed

# The SDK's limit for its own streams; a message may hold files.
LONGEST_MESSAGE_BYTES = 50 * 1024 * 1024


class _Outgoing(asyncio.streams.FlowControlMixin):
    """The stream to the client; closes the stream from the client when the client stops reading."""

    def __init__(self, incoming: asyncio.ReadTransport) -> None:
        super().__init__()
        self._incoming = incoming

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._incoming.close()


async def run_agent(agent: Any, **options: Any) -> None:
    """Serve one client as `acp.run_agent` does, until it closes either of its pipes; its prompts are then cancelled.

    The SDK alone notices a closed stdin. A client that closes only its end of stdout would keep the commands of its
    prompts running, although no caller can be told how they end.
    """
    feed.surface = "acp"
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST_MESSAGE_BYTES)
    incoming, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    outgoing, protocol = await loop.connect_write_pipe(lambda: _Outgoing(incoming), sys.stdout)
    await acp.run_agent(agent, asyncio.StreamWriter(outgoing, protocol, None, loop), reader, **options)
