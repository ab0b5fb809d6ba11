"""The ways in that another program uses: MCP and RPC on pipes, ACP in both directions."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator
from typing import Any

from acp import RequestError

from acp_terminals.conftest import SESSION, connected
from acp_terminals.editor import Editor
from nacre.acp import TerminalProvider
from surfaces.fault_table import Fault, Place, Seen
from surfaces.ways import (
    PATIENCE_SECONDS,
    appears,
    arguments_for,
    text_and_details,
    watched,
    workspace_reply,
)

# The verb of the command line; where the warden is not to start, with another program as the interpreter.
SERVER = "import sys; sys.executable = sys.argv.pop(1) or sys.executable; from nacre.cli import main; sys.exit(main())"


class Lines:
    """A server that speaks JSON lines on its standard streams."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    def send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")

    async def answer(self, number: int) -> dict[str, Any]:
        """The answer to a request; what is told meanwhile is passed over."""
        assert self._process.stdout is not None
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                line = await self._process.stdout.readline()
                assert line, "the server ended without an answer"
                message: dict[str, Any] = json.loads(line)
                if message.get("id") == number and message.get("type") != "update" and "method" not in message:
                    return message


@contextlib.asynccontextmanager
async def serving(verb: str, place: Place, fault: Fault) -> AsyncIterator[Lines]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SERVER, place.prepare(fault) or "", verb),
        cwd=place.cwd,
        env=dict(os.environ),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=1 << 24,
    )
    try:
        yield Lines(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await process.wait()


def _arguments(fault: Fault) -> dict[str, Any]:
    wanted = {"async": True} if fault.wants_job else {}
    return arguments_for("workspace", fault) | wanted | ({} if fault.cwd is None else {"cwd": fault.cwd})


async def rpc(place: Place, fault: Fault) -> Seen:
    async with serving("rpc", place, fault) as server:
        server.send({"id": 1, "type": "bash", **_arguments(fault)})
        if fault.cancels:
            await appears(place)
            server.send({"id": 2, "type": "abort_bash", "target": 1})
        data = (await server.answer(1))["data"]
    return _seen(data)


async def mcp(place: Place, fault: Fault) -> Seen:
    async with serving("mcp", place, fault) as server:
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        server.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello})
        await server.answer(0)
        server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        call = {"name": "bash", "arguments": _arguments(fault)}
        server.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
        if fault.cancels:
            await appears(place)
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
            # The protocol has no answer to a call that was cancelled; the next one follows its end.
            server.send({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
            await server.answer(2)
            return Seen(outcome="stopped", is_error=True)
        result = (await server.answer(1))["result"]
    details = result.get("_meta", {}).get("nacre/details", {})
    return _seen({"text": result["content"][0]["text"], "is_error": result["isError"], "details": details})


def _seen(data: dict[str, Any]) -> Seen:
    # Details of a call that was run hold its duration; of one that was not, nothing.
    details = data["details"]
    refused = "wallTimeMs" not in details and "aborted" not in details and "async" not in details
    return text_and_details(data["text"], data["is_error"], details, refused=refused)


async def client_terminal(place: Place, fault: Fault) -> Seen:
    """The workspace tool in the terminals of an editor."""
    editor = Editor()
    async with connected(editor, place.cwd) as wire:
        arguments = arguments_for("workspace", fault) | ({} if fault.cwd is None else {"cwd": fault.cwd})
        try:
            return workspace_reply(await watched(place, fault, wire.tool().call(arguments)))
        except asyncio.CancelledError:
            return Seen(outcome="stopped", is_error=True)
        finally:
            editor.close()


async def terminal_provider(place: Place, fault: Fault) -> Seen:
    """Terminals of ours for the agent of an editor: the protocol tells an exit code, and has no notices."""
    provider = TerminalProvider(cwd=place.cwd)
    async with connected(provider, place.cwd) as wire:
        agent = wire.agent_side
        try:
            made = await agent.create_terminal(
                session_id=SESSION, command="bash", args=["-c", fault.command], cwd=str(place.directory(fault))
            )
        except RequestError as error:
            return Seen(outcome="notStarted", is_error=True, notices=(str(error.data),))
        ids = {"session_id": SESSION, "terminal_id": made.terminal_id}
        if fault.cancels:
            await appears(place)
            await agent.kill_terminal(**ids)
        ended = await agent.wait_for_terminal_exit(**ids)
        await agent.release_terminal(**ids)
    # A command that was ended has no exit code; which limit ended it, the protocol has no word for.
    outcome = "exited" if ended.exit_code is not None else "stopped" if fault.cancels else "timedOut"
    return Seen(outcome=outcome, exit_code=ended.exit_code, is_error=ended.exit_code != 0)
