"""nacre's server with the tools that the conformance suite calls by name. For the tests only.

Each is a command that goes the way of every call: what the suite sees of results, progress, questions and tasks is what
nacre's own code makes of it. Run with a window of a fraction of a second, so that a command that sleeps is a task.
"""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from nacre.http_server.address import listen
from nacre.json_lines.stdio_transport import take_streams
from nacre.mcp import call, tasks
from nacre.mcp.call_channel import CallChannel
from nacre.mcp.handlers import Handlers
from nacre.mcp.http import serve_http, url_of
from nacre.mcp.jsonrpc import MISSING_CAPABILITY, RpcError
from nacre.mcp.machine import ServerCall
from nacre.mcp.sdk_server import build
from nacre.mcp.stdio_server import serve_stdio
from nacre.mcp.toolbox import Toolbox

# A rule of the test says to ask about this one.
ASKED = "touch asked"

COMMANDS: dict[str, Callable[[dict[str, Any]], str]] = {
    "test_simple_text": lambda _: "echo This is a simple text response for testing.",
    "test_error_handling": lambda _: "echo This tool intentionally returns an error for testing; exit 1",
    "test_tool_with_progress": lambda _: "for step in 1 2 3 4 5 6 7 8; do echo $step; sleep 0.04; done",
    "test_logging_tool": lambda _: "echo nothing is logged",
    "test_elicitation": lambda _: ASKED,
    "test_streaming_elicitation": lambda _: ASKED,
    "test_input_required_result_tampered_state": lambda _: ASKED,
    "test_input_required_result_elicitation": lambda _: ASKED,
    "slow_compute": lambda given: f"sleep {float(given.get('seconds', 0))}; echo {shlex.quote(given.get('label', ''))}",
    "failing_job": lambda _: "sleep 1; exit 1",
    # Its runner is killed, so nobody can say how it ended.
    "protocol_error_job": lambda _: "sleep 1; kill -KILL $PPID",
    "confirm_delete": lambda _: ASKED,
}

SCHEMA = {"type": "object", "properties": {}, "additionalProperties": True}


class FixtureHandlers(Handlers):
    async def list_tools(self, call: ServerCall, channel: CallChannel) -> Mapping[str, Any]:
        listed = await super().list_tools(call, channel)
        names = [*COMMANDS, "greet", "test_missing_capability"]
        more = [{"name": name, "description": "for the conformance suite", "inputSchema": SCHEMA} for name in names]
        return {**listed, "tools": [*listed["tools"], *more]}

    async def call_tool(self, call: ServerCall, channel: CallChannel) -> Mapping[str, Any]:
        name, given = call.params["name"], call.params.get("arguments") or {}
        if name == "greet":
            return {"content": [{"type": "text", "text": f"Hello, {given.get('name')}!"}]}
        if name == "test_missing_capability":
            raise RpcError(MISSING_CAPABILITY, "sampling is needed", {"requiredCapabilities": {"sampling": {}}})
        if name == "failing_job":
            tasks.require(call)
        if name in COMMANDS:
            arguments = {"command": COMMANDS[name](given)}
            call = replace(call, params={**call.params, "name": "bash", "arguments": arguments})
        return await super().call_tool(call, channel)


async def main() -> None:
    # The window is short here; there must be time for some progress in it.
    call.INTERVAL_SECONDS = 0.03
    handlers = FixtureHandlers(Toolbox("workspace"))
    if sys.argv[1:] == ["--stdio"]:
        await serve_stdio(handlers.toolbox, *take_streams(), handlers=handlers)
        return
    listener = listen("127.0.0.1", 0, token=None)
    print(url_of(listener), flush=True)
    await serve_http(build(handlers), listener, host="127.0.0.1", on_end=handlers.end)


if __name__ == "__main__":
    asyncio.run(main())
