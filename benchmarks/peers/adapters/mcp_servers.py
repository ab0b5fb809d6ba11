"""Shell servers over MCP, each asked by the same bare client: what is measured is the server, not an SDK's client."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from benchmarks.peers.tool import Answer, Tool, version_of

PROTOCOL = "2025-06-18"
# A line of the protocol may hold a whole output.
LINE_BYTES = 1 << 31


class McpTool(Tool):
    """A server on its standard streams; the newline-delimited JSON-RPC of MCP, and nothing else of it."""

    environment: dict[str, str] = {}  # noqa: RUF012 - a constant of the class

    def command(self) -> list[str]:
        raise NotImplementedError

    def request(self, script: str, timeout: float) -> tuple[str, dict[str, Any]]:
        """The name of the server's tool and its arguments."""
        raise NotImplementedError

    async def start(self) -> None:
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._count = 0
        self._server = await asyncio.create_subprocess_exec(
            *self.command(),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, **self.environment},
            limit=LINE_BYTES,
        )
        self._reader = asyncio.create_task(self._read())
        client = {"name": "benchmark", "version": "1"}
        told = await self._ask("initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client})
        self.version = self.version or f"{told['serverInfo']['name']} {told['serverInfo']['version']}"
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def run(self, script: str, timeout: float) -> Answer:
        name, arguments = self.request(script, timeout)
        result = await self._ask("tools/call", {"name": name, "arguments": arguments})
        text = "".join(part.get("text", "") for part in result["content"])
        # The protocol has no exit code; a server tells it in its text.
        return Answer(text, 1 if result.get("isError") else None)

    async def close(self) -> None:
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._reader.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reader
        try:
            await asyncio.wait_for(self._server.wait(), 3)
        except TimeoutError:
            self._server.kill()
            await self._server.wait()

    def pids(self) -> list[int]:
        return [self._server.pid]

    async def _ask(self, method: str, params: dict[str, Any]) -> Any:
        self._count += 1
        waiting = self._waiting[self._count] = asyncio.get_running_loop().create_future()
        self._send({"jsonrpc": "2.0", "id": self._count, "method": method, "params": params})
        return await waiting

    def _send(self, message: dict[str, Any]) -> None:
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps(message).encode() + b"\n")

    async def _read(self) -> None:
        assert self._server.stdout is not None
        while line := await self._server.stdout.readline():
            message = json.loads(line)
            waiting = self._waiting.pop(message.get("id"), None) if "method" not in message else None
            if waiting is None:
                continue
            if "error" in message:
                waiting.set_exception(RuntimeError(message["error"]["message"]))
            else:
                waiting.set_result(message["result"])
        for left in self._waiting.values():
            left.set_exception(ConnectionError("the server closed its output"))


class McpShellServer(McpTool):
    """It runs argument lists and pipes of them, and refuses every shell; what needs one it cannot run."""

    environment = {"ALLOW_COMMANDS": "true,/bin/true,seq,yes,head,cat,echo,printf,sleep"}  # noqa: RUF012

    async def start(self) -> None:
        self._directory = os.getcwd()
        # The server tells the version of its SDK for its own.
        self.version = version_of("mcp-shell-server")
        await super().start()

    def command(self) -> list[str]:
        return [str(Path(sys.executable).with_name("mcp-shell-server"))]

    def request(self, script: str, timeout: float) -> tuple[str, dict[str, Any]]:
        if set(script) & set(";&$(){}\n"):
            raise NotImplementedError("no shell: it runs argument lists only")
        arguments = {"command": shlex.split(script), "directory": self._directory, "timeout": max(1, round(timeout))}
        return "shell_execute", arguments


class McpServerCommands(McpTool):
    """It runs commands with Node's `exec`: /bin/sh, and no time limit of its own."""

    def command(self) -> list[str]:
        package = Path(os.environ["BENCH_PEERS"]) / "mcp-server-commands/node_modules/mcp-server-commands"
        return ["node", str(package / "build/index.js")]

    def request(self, script: str, timeout: float) -> tuple[str, dict[str, Any]]:
        return "run_command", {"command": script}


class DesktopCommander(McpTool):
    """It waits for a prompt, the end or the time given; a command that takes longer lives on, by design."""

    environment = {"DESKTOP_COMMANDER_DISABLE_TELEMETRY": "1"}  # noqa: RUF012

    def command(self) -> list[str]:
        package = Path(os.environ["BENCH_PEERS"]) / "desktop-commander/node_modules/@wonderwhy-er/desktop-commander"
        return ["node", str(package / "dist/index.js"), "--no-onboarding"]

    def request(self, script: str, timeout: float) -> tuple[str, dict[str, Any]]:
        return "start_process", {"command": script, "timeout_ms": round(timeout * 1000), "shell": "/bin/bash"}


class Nacre(McpTool):
    """As it comes: the commands of a connection share a shell."""

    def command(self) -> list[str]:
        return [str(Path(sys.executable).with_name("nacre")), "mcp"]

    def request(self, script: str, timeout: float) -> tuple[str, dict[str, Any]]:
        return "bash", {"command": script, "timeout": max(1, round(timeout))}


class NacreStateless(Nacre):
    environment = {"NACRE_PERSIST": "false"}  # noqa: RUF012
