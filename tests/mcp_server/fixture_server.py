"""nacre's server with the tools that the conformance suite calls by name. For the tests only.

Each is a command that goes the way of every call: what the suite sees of results, progress, questions and tasks is what
nacre's own code makes of it. Run with a window of a fraction of a second, so that a command that sleeps is a task.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable
from typing import Any

from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import MISSING_REQUIRED_CLIENT_CAPABILITY, CallToolRequestParams, PaginatedRequestParams

from nacre.mcp import call, tasks
from nacre.mcp.elicitation import approver
from nacre.mcp.handlers import Handlers, build
from nacre.mcp.http import listen, serve_http, url_of
from nacre.mcp.toolbox import Toolbox

Context = ServerRequestContext[Any, Any]

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
    async def list_tools(self, context: Context, params: PaginatedRequestParams) -> dict[str, Any]:
        listed = await super().list_tools(context, params)
        names = [*COMMANDS, "greet", "test_missing_capability"]
        more = [{"name": name, "description": "for the conformance suite", "inputSchema": SCHEMA} for name in names]
        return listed | {"tools": [*listed["tools"], *more]}

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> dict[str, Any]:
        given = params.arguments or {}
        if params.name == "greet":
            return {"resultType": "complete", "content": [{"type": "text", "text": f"Hello, {given.get('name')}!"}]}
        if params.name == "test_missing_capability":
            raise MCPError(
                code=MISSING_REQUIRED_CLIENT_CAPABILITY,
                message="sampling is needed",
                data={"requiredCapabilities": {"sampling": {}}},
            )
        if params.name == "failing_job":
            tasks.require(context)
        if params.name in COMMANDS:
            arguments = {"command": COMMANDS[params.name](given)}
            params = params.model_copy(update={"name": "bash", "arguments": arguments})
        return await super().call_tool(context, params)


async def main() -> None:
    # The window is short here; there must be time for some progress in it.
    call.INTERVAL_SECONDS = 0.03
    handlers = FixtureHandlers(Toolbox("workspace", approver=approver))
    listener = listen("127.0.0.1", 0, token=None)
    print(url_of(listener), flush=True)
    await serve_http(build(handlers), listener, host="127.0.0.1", on_end=handlers.end)


if __name__ == "__main__":
    asyncio.run(main())
