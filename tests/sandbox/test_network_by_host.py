"""With a list of hosts a command reaches those and no others, whatever way it takes. Servers are on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import nacre
from sandbox.conftest import needs_bubblewrap, settings

pytestmark = needs_bubblewrap


class Server:
    """Answers every connection of loopback with a page, and counts them."""

    def __init__(self, family: socket.AddressFamily = socket.AF_INET) -> None:
        address = ("127.0.0.1", 0) if family == socket.AF_INET else ("::1", 0)
        self._sock = socket.create_server(address, family=family)
        self.port = self._sock.getsockname()[1]
        self.requests: list[bytes] = []
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._sock.accept()
            except OSError:
                return
            with client:
                client.settimeout(5)
                self.requests.append(client.recv(65536))
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n")

    def close(self) -> None:
        self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


# One request by HTTP, with or without CONNECT, or by SOCKS5, as programs make them.
ASK = """\
import socket, sys
kind, host, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
s = socket.create_connection(("127.0.0.1", 3128), 5)
if kind == "plain":
    s.sendall(f"GET http://{host}:{port}/ HTTP/1.1\\r\\nHost: {host}\\r\\n\\r\\n".encode())
elif kind == "connect":
    s.sendall(f"CONNECT {host}:{port} HTTP/1.1\\r\\n\\r\\n".encode())
    print(s.recv(4096).split(b"\\r\\n")[0].decode())
    s.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
else:
    s.sendall(b"\\x05\\x01\\x00")
    s.recv(2)
    s.sendall(b"\\x05\\x01\\x00\\x03" + bytes([len(host)]) + host.encode() + port.to_bytes(2, "big"))
    print("socks", s.recv(10)[1])
    s.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
try:
    while data := s.recv(4096):
        print(data.decode().split("\\r\\n")[-1], end="")
except ConnectionResetError:
    pass
"""


@pytest.fixture
def ask(workspace: Path) -> str:
    (workspace / "ask.py").write_text(ASK, encoding="utf-8")
    return "/usr/bin/env python3 ask.py"


async def run(command: str, workspace: Path, network: str) -> nacre.ShellResult:
    return await nacre.run(command, cwd=workspace, settings=settings(network=network), timeout=30)


@pytest.mark.parametrize("kind", ["plain", "connect", "socks"])
async def test_a_listed_host_is_reached(kind: str, ask: str, server: Server, workspace: Path) -> None:
    result = await run(f"{ask} {kind} localhost {server.port}", workspace, f"localhost:{server.port}")
    assert result.text.endswith("hello\n"), result.text
    assert len(server.requests) == 1
    assert result.sandbox is not None
    assert result.sandbox["network"] == f"localhost:{server.port}"


@pytest.mark.parametrize("kind", ["plain", "connect", "socks"])
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "other.example"])
async def test_an_unlisted_host_is_refused_and_named(
    kind: str, host: str, ask: str, server: Server, workspace: Path
) -> None:
    result = await run(f"{ask} {kind} {host} {server.port}", workspace, "example.org,localhost:1")
    assert "hello" not in result.text
    assert server.requests == []
    assert any(f"{host}:{server.port}" in notice for notice in result.notices), result.notices
    log = (Path(os.environ["NACRE_HOME"]) / "log.jsonl").read_text(encoding="utf-8")
    assert f"{host}:{server.port}" in log


async def test_a_listed_name_that_leads_to_this_machine_is_refused(ask: str, server: Server, workspace: Path) -> None:
    """Another may have chosen where a name leads."""
    name = socket.gethostname()
    try:
        addresses = {str(one[4][0]) for one in socket.getaddrinfo(name, None)}
    except OSError:
        pytest.skip("this machine's name is not known")
    if any(address.startswith(("127.", "10.", "192.168.", "172.", "::1")) for address in addresses):
        result = await run(f"{ask} connect {name} {server.port}", workspace, f"{name}:{server.port}")
        assert "403" in result.text


@pytest.mark.parametrize(
    "script",
    [
        "import socket; socket.create_connection(('127.0.0.1', {port}), 3)",
        "import socket; socket.create_connection(('93.184.216.34', 80), 3)",
        "import socket; socket.create_connection(('2606:2800:220:1::1', 80), 3)",
        "import socket; socket.create_connection(('::1', {port}), 3)",
        "import socket; s = socket.socket(type=socket.SOCK_DGRAM); s.sendto(b'x', ('93.184.216.34', 53))",
        "import socket; s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); s.sendto(b'x', ('2606::1', 53))",
        "import socket; socket.getaddrinfo('example.org', 80)",
        "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
        "import socket; socket.socket(40, socket.SOCK_STREAM)",
    ],
)
async def test_no_other_way_leads_out(script: str, server: Server, workspace: Path) -> None:
    command = f'python3 -c "{script.format(port=server.port)}"'
    result = await run(command, workspace, f"localhost:{server.port}")
    assert not result.ok
    assert "OSError" in result.text or "gaierror" in result.text or "Error: [Errno" in result.text, result.text
    assert server.requests == []


async def test_a_narrower_call_is_not_served_by_what_a_wider_one_has_left(
    ask: str, server: Server, workspace: Path
) -> None:
    """Neither by its runner's sandbox nor by a shell that waits."""
    wide, narrow = f"localhost:{server.port},example.org", "example.org"
    for _ in range(3):
        assert "hello" in (await run(f"{ask} connect localhost {server.port}", workspace, wide)).text
    await asyncio.sleep(0)
    for network in (narrow, "off"):
        assert "hello" not in (await run(f"{ask} connect localhost {server.port}", workspace, network)).text
    assert len(server.requests) == 3


async def test_sessions_and_jobs_have_the_proxy_too(ask: str, server: Server, workspace: Path) -> None:
    chosen = settings(network=f"localhost:{server.port}")
    async with nacre.Tool("workspace", cwd=workspace, settings=chosen) as tool:
        assert "hello" in (await tool.call({"command": f"{ask} socks localhost {server.port}"})).text
        refused = await tool.call({"command": f"{ask} connect other.example 443"})
        assert "refused a connection while it ran: other.example:443" in refused.text
        assert "refused a connection" not in (await tool.call({"command": "true"})).text
        await tool.call({"command": f"{ask} plain localhost {server.port}", "async": True})
        job = nacre.Tool("job", cwd=workspace, settings=chosen)
        assert "hello" in (await job.call({"poll": ["bg_1"], "wait": 30})).text


async def test_what_a_job_was_refused_is_told_with_its_end_and_in_the_log(
    ask: str, server: Server, workspace: Path, home: Path
) -> None:
    chosen = settings(network=f"localhost:{server.port}")
    command = f"{ask} connect other.example 443; {ask} connect second.example 80"
    async with nacre.Tool("workspace", cwd=workspace, settings=chosen) as tool:
        await tool.call({"command": f"{ask} connect earlier.example 443"})
        await tool.call({"command": f"({command}) > /dev/null 2>&1", "async": True})
        job = nacre.Tool("job", cwd=workspace, settings=chosen)
        reply = await job.call({"poll": ["bg_1"], "wait": 30})
    told = "the sandbox has refused a connection while it ran: other.example:443, second.example:80 (sandbox.network"
    assert told in reply.text, reply.text
    ends: list[dict[str, list[str]]] = []
    async with asyncio.timeout(30):
        # The runner writes it after the final record.
        while not ends:
            await asyncio.sleep(0.01)
            lines = [json.loads(line) for line in (home / "log.jsonl").read_text(encoding="utf-8").splitlines()]
            ends = [line for line in lines if line.get("event") == "end"]
    assert any(told in notice for notice in ends[0]["notices"])
    record = json.loads(next((home / "jobs").glob("bg_1/*.json")).read_text(encoding="utf-8"))
    assert record["refusedHosts"] == ["other.example:443", "second.example:80"]


async def test_programs_are_told_of_the_proxy(workspace: Path) -> None:
    result = await run("echo $https_proxy $HTTP_PROXY $ALL_PROXY $no_proxy", workspace, "example.org")
    assert (
        result.text == "http://127.0.0.1:3128 http://127.0.0.1:3128 socks5h://127.0.0.1:3128 localhost,127.0.0.1,::1\n"
    )
