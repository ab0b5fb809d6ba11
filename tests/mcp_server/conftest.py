"""A client of the SDK's own on each wire: a real server process on pipes, real HTTP on loopback, both protocol eras."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from nacre.http_server.address import listen
from nacre.mcp.handlers import Handlers
from nacre.mcp.http import serve_http, url_of
from nacre.mcp.sdk_server import build
from nacre.mcp.toolbox import Toolbox

# The protocol revision that a client of each era comes to.
ERAS = {"legacy": "2025-11-25", "auto": "2026-07-28"}
WIRES = [f"{transport}-{era}" for transport in ("stdio", "http") for era in ERAS]
PATIENCE_SECONDS = 30.0

Connect = Callable[..., AbstractAsyncContextManager[Client]]


@asynccontextmanager
async def over_stdio(era: str, *arguments: str, **options: Any) -> AsyncIterator[Client]:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "nacre", "mcp", *arguments], env=dict(os.environ), cwd=os.getcwd()
    )
    async with Client(server, mode=era, **options) as client:
        yield client


@asynccontextmanager
async def http_server(contract: str = "workspace", structured: bool = False, **options: Any) -> AsyncIterator[str]:
    """A server in this process; its address."""
    handlers = Handlers(Toolbox(contract, structured=structured))
    listener = listen("127.0.0.1", 0, token=options.get("token"))
    serving = asyncio.create_task(
        serve_http(build(handlers), listener, host="127.0.0.1", on_end=handlers.end, **options)
    )
    try:
        yield url_of(listener)
    finally:
        serving.cancel()
        await asyncio.wait([serving])


@asynccontextmanager
async def over_http(era: str, *arguments: str, **options: Any) -> AsyncIterator[Client]:
    contract = dict(zip(arguments[::2], arguments[1::2], strict=True)).get("--contract", "workspace")
    async with http_server(contract) as url, Client(url, mode=era, **options) as client:
        yield client


@pytest.fixture(autouse=True)
def _compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK is large: compiled once and not for each server that is started."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)


@pytest.fixture(params=WIRES)
def connect(request: pytest.FixtureRequest) -> Connect:
    """Opens a client on one of the four wires."""
    return _connecting(*request.param.split("-"))


@pytest.fixture(params=ERAS)
def connect_http(request: pytest.FixtureRequest) -> Connect:
    """Opens a client over HTTP, for what is the same on every wire."""
    return _connecting("http", request.param)


def _connecting(transport: str, era: str) -> Connect:
    opened = over_stdio if transport == "stdio" else over_http

    def connected(*arguments: str, **options: Any) -> AbstractAsyncContextManager[Client]:
        return opened(era, *arguments, **options)

    connected.era = era  # type: ignore[attr-defined]
    return connected


async def until(condition: Callable[[], object], what: str) -> None:
    """Wait until something is true; a moment between two looks."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end, f"it never came true that {what}"
        await asyncio.sleep(0.02)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be reaped does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
