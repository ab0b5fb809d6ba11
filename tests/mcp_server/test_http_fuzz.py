"""Whatever is sent to the HTTP server: it lives on, runs nothing for strangers, and reads nothing but what it keeps."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_server.conftest import http_server

TOKEN = "the one that is right"
VERSIONS = ["2024-11-05", "2025-11-25", "2026-07-28", "2999-01-01", ""]

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)
# Requests that are nearly right get further than noise does.
METHODS = [
    "initialize",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "tasks/get",
    "tasks/cancel",
    "tasks/update",
    "notifications/cancelled",
    "ping",
]
envelope = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
}
params = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["bash", "job", "read", "../bash"]) | values,
        # A command that leaves a trace, were it run.
        "arguments": st.just({"command": "touch RAN"}) | st.just({"list": True}) | values,
        "uri": st.sampled_from(["artifact://1", "artifact://../counter", "job://bg_1", "file:///etc/passwd"]) | values,
        "taskId": values,
        "cursor": values,
        "requestState": values,
        "inputResponses": values,
        "_meta": st.just(envelope) | values,
    },
)
messages = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0") | values, "method": st.sampled_from(METHODS) | values},
    optional={"id": st.integers(0, 9) | values, "params": params | values},
)
bodies = (
    messages.map(lambda message: json.dumps(message).encode())
    | st.lists(messages, max_size=2).map(lambda batch: json.dumps(batch).encode())
    | st.binary(max_size=64)
    | st.integers(1, 3000).map(lambda depth: b"[" * depth)
)
headers = st.fixed_dictionaries(
    {},
    optional={
        "Authorization": st.sampled_from(["Bearer wrong", "Bearer", f"Basic {TOKEN}", f"Bearer {TOKEN} x"]),
        "MCP-Protocol-Version": st.sampled_from(VERSIONS),
        "Mcp-Session-Id": st.sampled_from(["0", "../x"]),
        "Mcp-Method": st.sampled_from(METHODS),
        "Mcp-Name": st.sampled_from(["bash", "=?base64?YmFzaA==?=", "=?base64?!?="]),
        "Content-Type": st.sampled_from(["application/json", "text/plain", "application/json; charset=utf-16"]),
        "Accept": st.sampled_from(["application/json, text/event-stream", "*/*", "text/html"]),
        "Last-Event-ID": st.sampled_from(["1", "x"]),
        "Content-Encoding": st.just("gzip"),
    },
)
VERBS = st.sampled_from(["POST", "GET", "DELETE", "PUT", "OPTIONS"])
requests = st.lists(st.tuples(VERBS, headers, bodies), max_size=4)


def framed(method: str, sent: dict[str, Any]) -> tuple[str, dict[str, str], bytes]:
    """A request of the newer era with everything around its params as it should be."""
    name = next((sent[key] for key in ("name", "uri", "taskId") if isinstance(sent.get(key), str)), "")
    more = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": method,
        "Mcp-Name": f"=?base64?{base64.b64encode(name.encode('utf-8', 'surrogatepass')).decode()}?=",
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": sent | {"_meta": envelope}}
    return "POST", more, json.dumps(body).encode()


well_framed = st.builds(framed, st.sampled_from(METHODS), params)

QUIET = settings(max_examples=100, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])


def ask(url: str, method: str, sent: dict[str, str], body: bytes) -> tuple[int, bytes]:
    """What one request came to; (0, …) when the server only closed the connection."""
    parts = urlsplit(url)
    connection = HTTPConnection(str(parts.hostname), parts.port, timeout=30)
    try:
        connection.request(method, parts.path, body, sent)
        answer = connection.getresponse()
        # A stream that is opened stays open; its beginning is enough.
        return answer.status, b"" if answer.getheader("content-type", "").startswith("text/event") else answer.read()
    except (HTTPException, ConnectionError) as error:
        return 0, str(error).encode()
    finally:
        connection.close()


def run_server(work: Callable[[str], Awaitable[None]], **options: Any) -> None:
    async def serve() -> None:
        async with http_server(**options) as url:
            await work(url)

    asyncio.run(serve())


def is_alive(url: str, token: str | None) -> bool:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    if token:
        sent["Authorization"] = f"Bearer {token}"
    return ask(url, "POST", sent, json.dumps(hello).encode())[0] == 200


def test_a_stranger_gets_nothing_but_a_refusal(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)

    async def work(url: str) -> None:
        @QUIET
        @given(requests)
        def refused(sent: list[tuple[str, dict[str, str], bytes]]) -> None:
            for method, more, body in sent:
                # 400 is the web server's own, before anybody is asked who it is.
                assert ask(url, method, more, body)[0] in (0, 400, 401)

        await asyncio.to_thread(refused)
        assert await asyncio.to_thread(is_alive, url, TOKEN)

    run_server(work, token=TOKEN)
    assert not (tmp_path / "RAN").exists()


def test_no_frame_crashes_the_server_or_reads_what_it_does_not_keep(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    # What the server would find one level up from where it looks, were it to look there.
    secret = "a line that no answer may contain"
    (tmp_path / "nacre-home").mkdir()
    (tmp_path / "nacre-home" / "counter").write_text(secret, encoding="utf-8")

    answered: set[int] = set()

    async def work(url: str) -> None:
        @QUIET
        @given(requests | st.lists(well_framed, min_size=1, max_size=4))
        def survived(sent: list[tuple[str, dict[str, str], bytes]]) -> None:
            for method, more, body in sent:
                code, text = ask(url, method, more, body)
                answered.add(code)
                # Never a crash in the middle of an answer, never a page about one.
                assert code < 500 or b'"jsonrpc"' in text, (code, text)
                assert b"Traceback" not in text
                assert secret.encode() not in text
                assert b"root:" not in text

        await asyncio.to_thread(survived)
        assert await asyncio.to_thread(is_alive, url, None)
        # It went as deep as the tools themselves.
        assert {200, 400, 404} <= answered

    run_server(work)
