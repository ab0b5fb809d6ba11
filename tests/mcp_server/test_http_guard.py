"""Who may speak to the server over HTTP: the token, the names, the pages, and the lease of a connection."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from mcp_server.conftest import ERAS, http_server
from nacre.errors import ConfigError, InvalidRequestError
from nacre.http_server.address import LEASE_SECONDS, address_of, listen

TOKEN = "a token of the test"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


async def status(url: str, headers: Mapping[str, str], *, method: str = "POST", path: str | None = None) -> int:
    """The status of one request."""
    parts = urlsplit(url)

    def ask() -> int:
        connection = HTTPConnection(str(parts.hostname), parts.port, timeout=20)
        try:
            connection.request(method, path or parts.path, json.dumps(HELLO).encode(), {**JSON, **headers})
            return connection.getresponse().status
        finally:
            connection.close()

    return await asyncio.to_thread(ask)


STRANGERS = [
    {},
    {"Authorization": "Bearer wrong"},
    {"Authorization": f"Basic {TOKEN}"},
    {"Authorization": f"bearer {TOKEN}x"},
    {"Authorization": "Bearer "},
]


async def test_only_the_token_lets_in() -> None:
    async with http_server(token=TOKEN) as url:
        for headers in STRANGERS:
            # Whatever is asked for, and however.
            assert await status(url, headers) == 401
            assert await status(url, headers, path="/elsewhere") == 401
            assert await status(url, headers, method="DELETE") == 401
            assert await status(url, headers | {"MCP-Protocol-Version": "2026-07-28"}) == 401
        for scheme in ("Bearer", "bearer"):
            assert await status(url, {"Authorization": f"{scheme} {TOKEN}"}) == 200


async def test_a_client_with_the_token_calls(home: Path) -> None:
    async with (
        http_server(token=TOKEN) as url,
        create_mcp_http_client(headers={"Authorization": f"Bearer {TOKEN}"}) as web,
        Client(streamable_http_client(url, http_client=web)) as client,
    ):
        assert (await client.call_tool("bash", {"command": "echo in"})).content[0].text.startswith("in\n")


PAGES = [
    ({"Host": "evil.example"}, 421),
    ({"Host": "127.0.0.1.evil.example"}, 421),
    ({"Origin": "http://evil.example"}, 403),
    ({"Origin": "null"}, 403),
    ({"Origin": "http://localhost:3000"}, None),
    ({"Host": "localhost"}, None),
]


@pytest.mark.parametrize("version", ERAS.values())
async def test_a_page_from_elsewhere_is_refused(version: str) -> None:
    async with http_server() as url:
        for headers, expected in PAGES:
            found = await status(url, headers | {"MCP-Protocol-Version": version})
            assert found == expected if expected else found not in (403, 421), headers


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_an_open_address_needs_a_token(host: str) -> None:
    with pytest.raises(ConfigError, match="a token is needed"):
        listen(host, 0, token=None)


@pytest.mark.parametrize("text", ["", "8000", ":8000", "localhost:", "localhost:http", "localhost:99999", "a:-1"])
def test_an_address_is_host_and_port(text: str) -> None:
    with pytest.raises(InvalidRequestError, match="must be HOST:PORT"):
        address_of(text)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--http", "0.0.0.0:0"], "a token is needed"),
        (["--token", "x"], "go with --http"),
        (["--lease", "5"], "go with --http"),
        (["--http", "127.0.0.1:0", "--lease", "0"], "--lease must be from 1 to 3600 seconds, got 0"),
    ],
)
def test_what_cannot_be_served_safely_is_not_served(arguments: list[str], said: str) -> None:
    argv = [sys.executable, "-m", "nacre", "mcp", *arguments]
    done = subprocess.run(argv, capture_output=True, check=False, timeout=30, stdin=subprocess.DEVNULL)
    assert done.returncode in (2, 125)
    assert done.stdout == b""
    assert said in done.stderr.decode()


def test_a_connection_is_given_up_when_its_client_answers_nothing() -> None:
    """A cut cable sends no farewell; the kernel asks, and connections inherit how often."""
    listener = listen("127.0.0.1", 0, token=None)
    with listener, socket.create_connection(listener.getsockname()), listener.accept()[0] as accepted:
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == LEASE_SECONDS * 1000
        assert accepted.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        idle = accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)
        between = accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL)
        assert idle + between * accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT) == LEASE_SECONDS


def test_the_token_of_the_environment_is_not_seen_by_any_command(tmp_path: Path) -> None:
    import contextlib

    from mcp_server.test_endings import address, process

    with contextlib.ExitStack() as stack:
        os.environ["NACRE_MCP_TOKEN"] = TOKEN
        try:
            server = stack.enter_context(
                process(
                    *(sys.executable, "-m", "nacre", "mcp", "--http", "127.0.0.1:0", "--contract", "basic"),
                    stdout=subprocess.PIPE,
                )
            )
        finally:
            del os.environ["NACRE_MCP_TOKEN"]
        url = address(server)

        async def call() -> str:
            async with (
                create_mcp_http_client(headers={"Authorization": f"Bearer {TOKEN}"}) as web,
                Client(streamable_http_client(url, http_client=web)) as client,
            ):
                done = await client.call_tool("bash", {"command": "env; tr '\\0' '\\n' < /proc/$PPID/environ"})
                return json.dumps(done.structured_content)

        assert TOKEN not in asyncio.run(call())
