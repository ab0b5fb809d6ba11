"""Carries HTTP requests of the conformance suite to servers on pipes, so that the suite judges stdio too.

Each handshake gets a server process and a session id of its own; modern requests share one process. The answer to a
request is a stream of events: what the server says on the way, then its answer.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

SESSION = "mcp-session-id"
MODERN = "io.modelcontextprotocol/protocolVersion"


class Pipe:
    """One server process, and the requests that wait for it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._waiting: dict[object, asyncio.Queue[Any]] = {}
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, argv: list[str]) -> Pipe:
        pipe = asyncio.subprocess.PIPE
        return cls(await asyncio.create_subprocess_exec(*argv, stdin=pipe, stdout=pipe, limit=1 << 24))

    async def _read(self) -> None:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            message = json.loads(line)
            for queue in self._addressed(message):
                queue.put_nowait(message)

    def _addressed(self, message: Any) -> list[asyncio.Queue[Any]]:
        """The requests that a message belongs to: by id, progress token or subscription, else all that wait."""
        params = message.get("params") or {}
        subscription = (params.get("_meta") or {}).get("io.modelcontextprotocol/subscriptionId")
        key = message["id"] if "method" not in message else params.get("progressToken", subscription)
        return [self._waiting[key]] if key in self._waiting else list(self._waiting.values())

    async def send(self, message: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        await self._process.stdin.drain()

    async def answered(self, message: Any) -> AsyncIterator[Any]:
        """What the server says of a request, its answer last."""
        token = ((message.get("params") or {}).get("_meta") or {}).get("progressToken")
        queue: asyncio.Queue[Any] = asyncio.Queue()
        keys = [message["id"], *([token] if token is not None else [])]
        self._waiting |= dict.fromkeys(keys, queue)
        done = False
        try:
            await self.send(message)
            while not done:
                said = await queue.get()
                done = "method" not in said and said["id"] == message["id"]
                yield said
        finally:
            for key in keys:
                self._waiting.pop(key, None)
            if not done:
                cancel = {"requestId": message["id"]}
                await self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel})

    async def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()
        await self._reading


class Bridge:
    def __init__(self, argv: list[str]) -> None:
        self._argv = argv
        self._pipes: dict[str, Pipe] = {}

    async def pipe(self, name: str) -> Pipe:
        if name not in self._pipes:
            self._pipes[name] = await Pipe.start(self._argv)
        return self._pipes[name]

    async def post(self, request: Request) -> Response:
        message = await request.json()
        meta = (message.get("params") or {}).get("_meta") or {}
        name = request.headers.get(SESSION) or ("modern" if MODERN in meta else secrets.token_hex(8))
        pipe = await self.pipe(name)
        if "id" not in message or "method" not in message:
            await pipe.send(message)
            return Response(status_code=202)
        headers = {SESSION: name} if message["method"] == "initialize" else {}
        return StreamingResponse(self._events(pipe, message), media_type="text/event-stream", headers=headers)

    @staticmethod
    async def _events(pipe: Pipe, message: Any) -> AsyncIterator[str]:
        async for said in pipe.answered(message):
            yield f"event: message\ndata: {json.dumps(said)}\n\n"

    async def delete(self, request: Request) -> Response:
        pipe = self._pipes.pop(request.headers.get(SESSION, ""), None)
        if pipe is not None:
            await pipe.close()
        return Response(status_code=200)

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        yield
        for pipe in self._pipes.values():
            await pipe.close()


def main() -> None:
    bridge = Bridge([sys.executable, *sys.argv[1:]])
    routes = [Route("/mcp", bridge.post, methods=["POST"]), Route("/mcp", bridge.delete, methods=["DELETE"])]
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    app = Starlette(routes=routes, lifespan=bridge.lifespan)
    uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=0)).run(sockets=[listener])


if __name__ == "__main__":
    main()
