"""Requests that never arrive whole are given up, with or without a token, and a refused DELETE ends no session."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from mcp_server.conftest import PATIENCE_SECONDS, http_server

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


async def ends(url: str, sent: bytes, *, dripping: bytes = b"") -> bytes:
    """What the server answers until it closes the connection, while a client sends a byte now and then."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)

    async def drip() -> None:
        while dripping:
            await asyncio.sleep(0.05)
            writer.write(dripping)

    dripped = asyncio.create_task(drip())
    try:
        writer.write(sent)
        async with asyncio.timeout(PATIENCE_SECONDS):
            try:
                return await reader.read()
            except ConnectionResetError:
                return b""
    finally:
        dripped.cancel()
        writer.transport.abort()


@pytest.mark.parametrize("token", [None, "secret"])
@pytest.mark.parametrize("sent", [b"", b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "])
async def test_headers_that_never_end_close_the_connection(
    sent: bytes, token: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nacre.http_server.timing.HEADER_SECONDS", 0.5)
    async with http_server(token=token) as url:
        assert await ends(url, sent, dripping=b"x" if sent else b"") == b""


@pytest.mark.parametrize("authorization", ["wrong", "secret"])
async def test_body_that_never_ends_closes_the_connection(authorization: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nacre.http_server.timing.HEADER_SECONDS", 0.5)
    monkeypatch.setattr("nacre.http_server.timing.BODY_SECONDS", 0.5)
    head = (
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\n"
        f"Authorization: Bearer {authorization}\r\nContent-Length: 100000\r\n\r\n"
    )
    async with http_server(token="secret") as url:
        answer = await ends(url, head.encode() + b"{", dripping=b" ")
    assert answer.startswith(b"HTTP/1.1 401") == (authorization == "wrong")


async def exchange(url: str, method: str, body: dict[str, Any] | None = None, **headers: str) -> tuple[int, str, bytes]:
    """Status, session and the beginning of the body."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    data = b"" if body is None else json.dumps({"jsonrpc": "2.0", **body}).encode()
    lines = {
        "Host": f"127.0.0.1:{parts.port}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Connection": "close",
        "Content-Length": str(len(data)),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    writer.write(f"{method} /mcp HTTP/1.1\r\n{head}\r\n".encode() + data)
    async with asyncio.timeout(PATIENCE_SECONDS):
        answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    top, _, rest = answer.partition(b"\r\n\r\n")
    session = [
        line.split(b": ", 1)[1].decode() for line in top.split(b"\r\n") if line.lower().startswith(b"mcp-session-id")
    ]
    return int(top.split()[1]), session[0] if session else "", rest


async def test_refused_delete_ends_nobodys_session() -> None:
    async with http_server() as url:
        _, session, _ = await exchange(url, "POST", {"id": 0, "method": "initialize", "params": HELLO})
        await exchange(url, "POST", {"method": "notifications/initialized"}, Mcp_Session_Id=session)

        async def call(command: str) -> bytes:
            params = {"name": "bash", "arguments": {"command": command}}
            asked = {"id": 1, "method": "tools/call", "params": params}
            return (await exchange(url, "POST", asked, Mcp_Session_Id=session))[2]

        await call("kept=value")
        status, _, _ = await exchange(url, "DELETE", Mcp_Session_Id=session, Origin="http://elsewhere.example")
        assert status == 403
        assert b"value" in await call("echo $kept")
