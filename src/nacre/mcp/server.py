"""What a client may ask of the server, and who answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, CallToolRequestParams, PaginatedRequestParams

import nacre
from nacre.mcp.answer import COMPLETE, result_of
from nacre.mcp.approval import ASKING, Asking, QuestionError
from nacre.mcp.call import GoneError, Report, run_call
from nacre.mcp.toolbox import Toolbox

NAME = "nacre"

INSTRUCTIONS = """\
A shell that always comes back: timeouts end everything a command started, long output is kept and can be read further,
long commands go on as background jobs whose end is told with a later result."""

# Of a call's `_meta`: the shell session to run in, where the client wants another than its connection's own.
SESSION_KEY = "nacre/session"
SESSION_HEADER = "mcp-session-id"
# Of a request's scope, where it came over HTTP: set once nobody can read its answer any more.
GONE = "nacre.gone"
# On a pipe there is one client, and one connection.
PIPE_SESSION = "stdio"

# The tools are the same as long as the server runs.
CACHE_HINTS: dict[CacheableMethod, CacheHint] = {"tools/list": CacheHint(ttl_ms=60_000)}

Context = ServerRequestContext[Any, Any]


class Desk:
    """Answers what clients ask, with the tools of one server."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox

    async def list_tools(self, context: Context, params: PaginatedRequestParams) -> dict[str, Any]:
        return {"resultType": COMPLETE, "tools": list(self._toolbox.described.values())}

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        described = self._toolbox.described.get(name)
        return None if described is None else described["inputSchema"]

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> dict[str, Any]:
        tool = self._toolbox.find(params.name, session_of(context))
        if tool is None:
            known = ", ".join(self._toolbox.described)
            raise MCPError(code=INVALID_PARAMS, message=f"there is no tool {params.name!r}; there are {known}")
        ASKING.set(Asking(context, params))
        try:
            reply = await run_call(tool, params.arguments or {}, report_of(context), gone=gone_of(context))
        except QuestionError as question:
            return question.result
        except GoneError as error:
            raise MCPError(code=INTERNAL_ERROR, message="the client is gone; its command was ended") from error
        return result_of(reply, version=context.protocol_version)


def session_of(context: Context) -> str | None:
    """The shell session that a call belongs to: named by the client, else one for each connection.

    A request of the newer era over HTTP has no connection: unless it names a session, it gets a shell of its own.
    """
    meta = (context.params or {}).get("_meta") or {}
    named = meta.get(SESSION_KEY)
    if named is not None:
        if not isinstance(named, str) or not named:
            raise MCPError(code=INVALID_PARAMS, message=f"_meta {SESSION_KEY!r} must be a name, got {named!r}")
        return f"named:{named}"
    if context.request is None:
        return PIPE_SESSION
    connection = context.request.headers.get(SESSION_HEADER)
    return None if connection is None else connection_session(connection)


def connection_session(connection: str) -> str:
    return f"http:{connection}"


def report_of(context: Context) -> Report | None:
    """How to tell a client of progress; None for one that did not ask."""
    meta = (context.params or {}).get("_meta") or {}
    if meta.get("progressToken") is None:
        return None

    async def report(seconds: float, text: str) -> None:
        await context.session.report_progress(seconds, message=text)

    return report


def gone_of(context: Context) -> asyncio.Event | None:
    """Set once the client cannot read the answer any more; the older era over HTTP does not cancel a call by itself."""
    return None if context.request is None else context.request.scope.get(GONE)


def build(toolbox: Toolbox) -> Server[None]:
    """The SDK's server around the tools; it gives them back when it ends."""
    desk = Desk(toolbox)

    @asynccontextmanager
    async def lifespan(_: Server[None]) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await toolbox.aclose()

    server = Server(
        NAME,
        version=nacre.__version__,
        title="nacre shell",
        instructions=INSTRUCTIONS,
        lifespan=lifespan,
        get_tool_input_schema=desk.input_schema,
        cache_hints=CACHE_HINTS,
    )
    server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=NAME))
    server.add_request_handler("tools/list", PaginatedRequestParams, desk.list_tools)
    server.add_request_handler("tools/call", CallToolRequestParams, desk.call_tool)
    return server
