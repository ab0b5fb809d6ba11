"""However a server or a client ends, no command of a call is left behind, and jobs live on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from mcp_server.conftest import ERAS, PATIENCE_SECONDS, is_alive, until
from nacre.jobs.table import JobTable

# Starts a job, then makes a call that never ends by itself. A process, so that it can be killed, and a bare one, so
# that it starts at once. Over HTTP it speaks either era; on pipes it starts its server itself.
CLIENT = """
import http.client, json, subprocess, sys
from urllib.parse import urlsplit

where, era, command = sys.argv[1:]
meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
session = {}
if where == "-":
    server = subprocess.Popen([sys.executable, "-m", "nacre", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

def say(method, params, number=None):
    body = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        body["id"] = number
        if era == "auto":
            params["_meta"] = meta
    if where == "-":
        server.stdin.write(json.dumps(body).encode() + b"\\n")
        server.stdin.flush()
        return number is None or server.stdout.readline()
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **session}
    if era == "auto":
        headers |= {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": "bash"}
    parts = urlsplit(where)
    if parts.username:
        headers["Authorization"] = f"Bearer {parts.username}"
    connection = http.client.HTTPConnection(parts.hostname, parts.port)
    connection.request("POST", parts.path, json.dumps(body), headers)
    answer = connection.getresponse()
    if method == "initialize":
        session["Mcp-Session-Id"] = answer.getheader("Mcp-Session-Id")
    return answer.read()

if era == "legacy":
    say("initialize", client, 0)
    say("notifications/initialized", {})
say("tools/call", {"name": "bash", "arguments": {"command": "sleep 600", "async": True}}, 1)
say("tools/call", {"name": "bash", "arguments": {"command": command}}, 2)
"""


SERVER = [sys.executable, "-m", "nacre", "mcp"]


class Scene:
    """A command in a call and a job, each with its processes."""

    def __init__(self, tmp_path: Path, home: Path) -> None:
        self.pids = tmp_path / "pids"
        self.command = (
            f"setsid bash -c 'echo $$ > {self.pids}.new; exec sleep 600' & "
            f"until [ -s {self.pids}.new ]; do sleep 0.01; done; "
            f"echo $$ >> {self.pids}.new; mv {self.pids}.new {self.pids}; sleep 600"
        )
        self._table = JobTable(home)

    async def started(self) -> list[int]:
        await until(self.pids.exists, "the command has started")
        return [int(pid) for pid in self.pids.read_text(encoding="utf-8").split()]

    async def nothing_but_the_job_is_left(self, foreground: list[int]) -> None:
        await until(lambda: not any(is_alive(pid) for pid in foreground), "everything of the call has ended")
        (job,) = self._table.list().jobs
        assert job.running
        assert is_alive(job.record["pid"])
        self._table.stop(job.id)
        await until(lambda: not self._table.get(job.id).running, "the job has ended")


@pytest.fixture
def scene(tmp_path: Path, home: Path) -> Scene:
    return Scene(tmp_path, home)


def environment() -> dict[str, str]:
    return dict(os.environ)


@contextlib.contextmanager
def process(*argv: str, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(argv, env=environment(), **options) as started:
        try:
            yield started
        finally:
            started.kill()
            started.wait(PATIENCE_SECONDS)


def client(
    where: str, era: str, command: str, *, before: Sequence[str] = ()
) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    return process(*before, sys.executable, "-c", CLIENT, where, era, command, stderr=subprocess.DEVNULL)


def server_over_http() -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    return process(*SERVER, "--http", "127.0.0.1:0", stdout=subprocess.PIPE)


def address(server: subprocess.Popen[bytes]) -> str:
    assert server.stdout is not None
    return server.stdout.readline().decode().strip()


def request(number: int, method: str, params: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


HELLO = request(
    0, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
)


@contextlib.contextmanager
def server_on_pipes(command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A server whose client is this test: it has a job, and a call that never ends by itself."""
    with process(*SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(HELLO + b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        server.stdin.write(
            request(1, "tools/call", {"name": "bash", "arguments": {"command": "sleep 600", "async": True}})
        )
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["id"] == 0
        assert "bg_1" in json.loads(server.stdout.readline())["result"]["content"][0]["text"]
        server.stdin.write(request(2, "tools/call", {"name": "bash", "arguments": {"command": command}}))
        server.stdin.flush()
        yield server


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130), (signal.SIGKILL, -9)]
)
async def test_a_signal_to_a_server_on_pipes(scene: Scene, number: int, code: int) -> None:
    with server_on_pipes(scene.command) as server:
        foreground = await scene.started()
        server.send_signal(number)
        assert await asyncio.to_thread(server.wait, PATIENCE_SECONDS) == code
        await scene.nothing_but_the_job_is_left(foreground)


async def test_a_client_that_closes_the_pipe(scene: Scene) -> None:
    with server_on_pipes(scene.command) as server:
        foreground = await scene.started()
        assert server.stdin is not None
        server.stdin.close()
        assert await asyncio.to_thread(server.wait, PATIENCE_SECONDS) == 0
        await scene.nothing_but_the_job_is_left(foreground)


async def test_a_client_that_closes_only_its_reading_end_ends_the_command_and_the_server(scene: Scene) -> None:
    with server_on_pipes(scene.command) as server:
        foreground = await scene.started()
        assert server.stdout is not None
        server.stdout.close()
        assert await asyncio.to_thread(server.wait, PATIENCE_SECONDS) == 0
        await scene.nothing_but_the_job_is_left(foreground)


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_on_pipes_is_killed(scene: Scene, era: str) -> None:
    with client("-", era, scene.command) as killed:
        foreground = await scene.started()
        killed.kill()
        await scene.nothing_but_the_job_is_left(foreground)


@pytest.mark.parametrize(
    ("era", "number", "code"),
    [
        ("legacy", signal.SIGTERM, 143),
        ("auto", signal.SIGTERM, 143),
        ("auto", signal.SIGHUP, 129),
        ("legacy", signal.SIGKILL, -9),
        ("auto", signal.SIGKILL, -9),
    ],
)
async def test_a_signal_to_a_server_over_http(scene: Scene, era: str, number: int, code: int) -> None:
    with server_over_http() as server, client(address(server), era, scene.command):
        foreground = await scene.started()
        server.send_signal(number)
        assert await asyncio.to_thread(server.wait, PATIENCE_SECONDS) == code
        await scene.nothing_but_the_job_is_left(foreground)


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_over_http_is_killed(scene: Scene, era: str) -> None:
    with server_over_http() as server, client(address(server), era, scene.command) as killed:
        foreground = await scene.started()
        killed.kill()
        await scene.nothing_but_the_job_is_left(foreground)
        assert server.poll() is None


class Wire:
    """A network between client and server that can be cut: both sides are then told nothing but a reset."""

    def __init__(self, target: tuple[str, int]) -> None:
        self._target = target
        self._writers: list[asyncio.StreamWriter] = []
        self._joined: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def open(self) -> int:
        self._server = await asyncio.start_server(self._join, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._joined.add(task)
        far_reader, far_writer = await asyncio.open_connection(*self._target)
        self._writers += [writer, far_writer]
        await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))

    async def cut(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._writers:
            if writer.is_closing():
                continue
            linger = (1).to_bytes(4, "little") + (0).to_bytes(4, "little")
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()
        await asyncio.wait(self._joined)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()


@pytest.mark.parametrize("era", ERAS)
async def test_the_network_is_cut(scene: Scene, era: str) -> None:
    with server_over_http() as server:
        host, port = address(server).removeprefix("http://").removesuffix("/mcp").split(":")
        wire = Wire((host, int(port)))
        through = f"http://127.0.0.1:{await wire.open()}/mcp"
        with client(through, era, scene.command):
            foreground = await scene.started()
            await wire.cut()
            await scene.nothing_but_the_job_is_left(foreground)
            assert server.poll() is None


class Machines:
    """Two machines and the cable between them, as network namespaces."""

    def __init__(self) -> None:
        self.names = [f"nacre-{os.getpid()}-{side}" for side in ("server", "client")]

    def on(self, side: int) -> list[str]:
        """What runs a program on the server's machine, or on the client's."""
        return ["ip", "netns", "exec", self.names[side]]

    def connect(self) -> None:
        """Raises CalledProcessError where that is not allowed."""
        for name in self.names:
            _ip("netns", "add", name)
        ends = [("name", "cable", "netns", name) for name in self.names]
        _ip("link", "add", *ends[0], "type", "veth", "peer", *ends[1])
        for number, name in enumerate(self.names, start=1):
            _ip("-n", name, "address", "add", f"10.0.0.{number}/24", "dev", "cable")
            _ip("-n", name, "link", "set", "cable", "up")

    def cut(self) -> None:
        _ip("-n", self.names[1], "link", "set", "cable", "down")

    def remove(self) -> None:
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], stderr=subprocess.DEVNULL, check=False)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], stderr=subprocess.PIPE, check=True)


@pytest.fixture
def machines() -> Iterator[Machines]:
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("a network of one's own needs root and ip (Debian: apt-get install iproute2)")
    machines = Machines()
    try:
        try:
            machines.connect()
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no network can be made here: {error.stderr.decode()}")
        yield machines
    finally:
        machines.remove()


@pytest.mark.parametrize("era", ERAS)
async def test_the_cable_is_cut(scene: Scene, era: str, machines: Machines) -> None:
    """Nobody is told anything: the server finds out by itself, when the lease has run out."""
    options = ["--http", "10.0.0.1:0", "--token", "t0ken", "--lease", "3"]
    with process(*machines.on(0), *SERVER, *options, stdout=subprocess.PIPE) as server:
        where = address(server).replace("http://", "http://t0ken@")
        with client(where, era, scene.command, before=machines.on(1)) as cut_off:
            foreground = await scene.started()
            machines.cut()
            await scene.nothing_but_the_job_is_left(foreground)
            assert (server.poll(), cut_off.poll()) == (None, None)
