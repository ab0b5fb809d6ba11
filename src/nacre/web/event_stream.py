"""Server-sent events: their framing, the numbers by which a browser comes again, and a response that ends with its
reader."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

from nacre.http_server.timing import Receive, Scope, Send

# Comments keep the connection open through proxies, and find out readers that are gone.
PING_SECONDS = 15.0
PING = b": still here\n\n"
# How soon a browser connects again.
RETRY_MS = 1000


def frame(event: str, data: Any, *, number: str | None = None) -> bytes:
    """Return one event; `number` is what the browser sends as Last-Event-ID when it comes again."""
    # JSON without line ends, so that it is one line of the frame whatever the text holds.
    body = json.dumps(data, separators=(",", ":"), ensure_ascii=True)
    lines = [f"event: {event}", *([] if number is None else [f"id: {number}"]), f"data: {body}"]
    return ("\n".join(lines) + "\n\n").encode("ascii")


def opening() -> bytes:
    return f"retry: {RETRY_MS}\n\n".encode("ascii")


def number_of(epoch: str, revision: int) -> str:
    return f"{epoch}.{revision}"


def revision_of(number: str | None, epoch: str) -> int:
    """Return the revision that a browser has seen of this server; 0 for one that has seen none, or of another."""
    told, _, revision = (number or "").rpartition(".")
    return int(revision) if told == epoch and revision.isascii() and revision.isdigit() and len(revision) < 16 else 0


class EventStream:
    """A response that sends frames until they end or the reader is gone. A slow reader delays the next frame."""

    def __init__(self, frames: AsyncGenerator[bytes], *, first: bytes = b"") -> None:
        """Take what is sent.

        Args:
            first: a frame that was taken from the others already.
        """
        self._frames = frames
        self._first = first

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sending = asyncio.create_task(self._send(send))
        leaving = asyncio.create_task(_gone(receive))
        try:
            await asyncio.wait([sending, leaving], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, leaving):
                task.cancel()
            await asyncio.wait([sending, leaving])
            # A generator that was left in the middle gives back what it holds now, and not when it is collected.
            await self._frames.aclose()
        if not sending.cancelled():
            sending.result()

    async def _send(self, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if self._first:
            await send({"type": "http.response.body", "body": self._first, "more_body": True})
        async for data in self._frames:
            await send({"type": "http.response.body", "body": data, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
