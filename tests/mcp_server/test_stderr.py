"""A stderr that is not read wedges no server, and bad requests are one bounded line each there."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit

from faults.outside import full_pipe
from mcp_server.conftest import PATIENCE_SECONDS


@contextlib.contextmanager
def http_process(stderr: int) -> Iterator[str]:
    command = [sys.executable, "-m", "nacre", "mcp", "--http", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()
            server.wait(PATIENCE_SECONDS)


async def post(url: str, host: str) -> bytes:
    """The first line of the answer to a request to this host."""
    parts = urlsplit(url)
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    async with asyncio.timeout(PATIENCE_SECONDS):
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.write(
            f"POST {parts.path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\n"
            f"Accept: application/json, text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        answer = await reader.read()
        writer.transport.abort()
    return answer.split(b"\r\n")[0]


async def test_a_stderr_that_is_not_read_wedges_no_http_server() -> None:
    with full_pipe() as (_, stderr), http_process(stderr) as url:
        for _ in range(20):
            assert b" 421 " in await post(url, "x" * 9000)
        assert b" 421 " not in await post(url, "127.0.0.1")


async def test_a_bad_request_is_one_bounded_line_on_stderr() -> None:
    with full_pipe() as (reading, stderr), http_process(stderr) as url:
        for _ in range(3):
            await post(url, "x" * 9000)
        os.set_blocking(reading, False)
        assert set(os.read(reading, 1 << 20)) == {ord("x")}
        for _ in range(5):
            await post(url, "y" * 9000)
        said = os.read(reading, 1 << 20).decode()
    first, *lines = said.splitlines()
    assert first == "nacre: 3 lines missing here: stderr was not read"
    assert len(lines) == 5
    assert all(line.startswith("nacre: mcp.") and 100 < len(line) < 600 for line in lines)
