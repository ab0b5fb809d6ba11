"""A page server in this process, and a browser's requests without a browser."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from nacre.engine.engine import from_environment
from nacre.http_server.address import listen
from nacre.web.page_gate import COOKIE, Gate, own_hosts
from nacre.web.page_server import serve_page

PATIENCE_SECONDS = 20.0
TOKEN = "the-token-of-this-test"


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Page:
    """A server, as a browser sees it that has the cookie."""

    port: int
    gate: Gate
    headers: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        host = f"127.0.0.1:{self.port}"
        self.headers = {
            "Host": host,
            "Origin": f"http://{host}",
            "Sec-Fetch-Site": "same-origin",
            "Cookie": f"{COOKIE}={self.gate.cookie}",
        }

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/?token={self.gate.token}"

    async def connect(self, method: str, path: str, headers: dict[str, str | None], body: bytes) -> Any:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 22)
        sent = {**self.headers, "Content-Length": str(len(body)), "Connection": "close", **headers}
        lines = "".join(f"{name}: {value}\r\n" for name, value in sent.items() if value is not None)
        target = path if path.startswith("/") else self.gate.page + path
        writer.write(f"{method} {target} HTTP/1.1\r\n{lines}\r\n".encode() + body)
        return reader, writer

    async def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str | None] | None = None
    ) -> Answer:
        """Make one request; a path without a slash is below the page."""
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        reader, writer = await self.connect(method, path, headers or {}, data)
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                status, found = await _head(reader)
                if found.get("transfer-encoding") == "chunked":
                    received = b"".join([piece async for piece in _chunks(reader)])
                else:
                    received = await reader.readexactly(int(found.get("content-length", 0)))
        finally:
            writer.transport.abort()
        return Answer(status, found, received)

    async def get(self, path: str, **headers: str | None) -> Answer:
        return await self.ask("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})

    async def post(self, path: str, body: Any = None, **headers: str | None) -> Answer:
        return await self.ask(
            "POST", path, body, headers={name.replace("_", "-"): value for name, value in headers.items()}
        )

    @asynccontextmanager
    async def follow(self, path: str = "api/events", **headers: str | None) -> AsyncIterator[Stream]:
        """Follow a stream of events."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        reader, writer = await self.connect("GET", path, given, b"")
        try:
            status, _ = await _head(reader)
            assert status == 200
            yield Stream(_chunks(reader))
        finally:
            writer.transport.abort()


@dataclass
class Event:
    name: str
    data: Any
    number: str | None


class Stream:
    """The events of one connection."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = b""
        self._passed: list[Event] = []

    async def next(self) -> Event:
        while True:
            while b"\n\n" not in self._rest:
                self._rest += await anext(self._chunks)
            block, _, self._rest = self._rest.partition(b"\n\n")
            fields = dict(line.split(": ", 1) for line in block.decode().split("\n") if not line.startswith(":"))
            if "data" in fields:
                return Event(fields["event"], json.loads(fields["data"]), fields.get("id"))

    async def until(self, name: str, **wanted: Any) -> Event:
        """Return the first event of this name with these facts; others wait to be asked for."""

        def fits(event: Event) -> bool:
            return event.name == name and all(event.data.get(key) == value for key, value in wanted.items())

        for at, event in enumerate(self._passed):
            if fits(event):
                return self._passed.pop(at)
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not fits(event := await self.next()):
                    self._passed.append(event)
        except TimeoutError:
            raise AssertionError(f"no {name} with {wanted} came, but {self._passed}") from None
        return event


async def _head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    async with asyncio.timeout(PATIENCE_SECONDS):
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
    pairs = (line.split(": ", 1) for line in lines)
    return int(first.split()[1]), {name.lower(): value for name, value in pairs}


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while size := int(await reader.readuntil(b"\r\n"), 16):
        yield await reader.readexactly(size)
        await reader.readexactly(2)


class Relay:
    """The network between a browser and the server, which can be cut."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._ends: set[asyncio.StreamWriter] = set()
        self._pumps: set[asyncio.Task[None]] = set()
        self.is_cut = False

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_cut:
            writer.transport.abort()
            return
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._ends |= {writer, far_writer}
        for source, target in ((reader, far_writer), (far_reader, writer)):
            pump = asyncio.create_task(self._pump(source, target))
            self._pumps.add(pump)
            pump.add_done_callback(self._pumps.discard)

    async def _pump(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await source.read(65536):
                target.write(data)
                await target.drain()
        target.transport.abort()

    def cut(self) -> None:
        self.is_cut = True
        for end in self._ends:
            end.transport.abort()
        self._ends.clear()

    def mend(self) -> None:
        self.is_cut = False

    async def aclose(self) -> None:
        self.cut()
        if self._pumps:
            await asyncio.wait(self._pumps)
        await asyncio.sleep(0)


@asynccontextmanager
async def relayed(page: Page) -> AsyncIterator[tuple[Relay, str]]:
    """Put a network before a page; gives it and the page's address there."""
    relay = Relay(page.port)
    async with await asyncio.start_server(relay.accept, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        try:
            yield relay, page.address.replace(f":{page.port}/", f":{port}/")
        finally:
            await relay.aclose()


@asynccontextmanager
async def page_server(**gate: Any) -> AsyncIterator[Page]:
    """Serve the page of the test's state directory."""
    listener = listen("127.0.0.1", 0, token=TOKEN)
    made = Gate(TOKEN, own_hosts("127.0.0.1"), **gate)
    ready = asyncio.Event()
    serving = asyncio.create_task(serve_page(from_environment(), listener, made, ready.set))
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await ready.wait()
        yield Page(listener.getsockname()[1], made)
    finally:
        serving.cancel()
        await asyncio.wait([serving])
        listener.close()
