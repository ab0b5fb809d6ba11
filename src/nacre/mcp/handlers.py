"""The requests that a client may make, and their handlers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    SubscribeRequestParams,
    UnsubscribeRequestParams,
)
from opentelemetry import trace

import nacre
from nacre.contracts.contract import Reply
from nacre.engine.engine import Engine
from nacre.errors import NacreError
from nacre.jobs.ownership import own_jobs
from nacre.mcp import resources, tasks
from nacre.mcp.answer import COMPLETE, job_of, result_of
from nacre.mcp.call import GoneError, Report, run_call
from nacre.mcp.elicitation import ASKING, Asking, QuestionError
from nacre.mcp.job_notices import Notices
from nacre.mcp.toolbox import NAMED, Session, Toolbox

NAME = "nacre"

INSTRUCTIONS = """\
A shell that always comes back: timeouts end everything a command started, long output is kept and can be read further,
long commands go on as background jobs whose end is told with a later result."""

# In `_meta` of a call: the shell session, if the client wants another than that of its connection.
SESSION_KEY = "nacre/session"
SESSION_HEADER = "mcp-session-id"
# In the scope of an HTTP request: an event that is set when the client cannot read the answer any more.
GONE = "nacre.gone"
# A pipe has one client and one connection.
PIPE_SESSION = "stdio"

# Tools and templates do not change while the server runs; everything else changes with every command.
CACHE_HINTS: dict[CacheableMethod, CacheHint] = {
    "tools/list": CacheHint(ttl_ms=60_000),
    "resources/templates/list": CacheHint(ttl_ms=60_000),
    "resources/list": CacheHint(),
    "resources/read": CacheHint(),
}

Context = ServerRequestContext[Any, Any]


class Handlers:
    """Answers requests with the tools of one server."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self.notices = Notices(toolbox.shell)

    @property
    def _engine(self) -> Engine:
        return self._toolbox.shell.engine

    async def end(self, session: str) -> None:
        """Release the resources of a session that its client has ended."""
        self.notices.forget(session)
        await self._toolbox.end(session)

    async def aclose(self) -> None:
        await self._toolbox.aclose()

    # Tools.

    async def list_tools(self, context: Context, params: PaginatedRequestParams) -> dict[str, Any]:
        return {"resultType": COMPLETE, "tools": list(self._toolbox.described(session_of(context)).values())}

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        described = self._toolbox.described(None).get(name)
        return None if described is None else described["inputSchema"]

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> dict[str, Any]:
        session = session_of(context)
        tool = self._toolbox.find(params.name, session)
        if tool is None:
            known = ", ".join(self._toolbox.described(session))
            raise MCPError(code=INVALID_PARAMS, message=f"there is no tool {params.name!r}; there are {known}")
        arguments = params.arguments or {}
        ASKING.set(Asking(context, params))
        try:
            reply = await run_call(tool, arguments, report_of(context), gone=gone_of(context))
        except QuestionError as question:
            return question.result
        except GoneError as error:
            raise MCPError(code=INTERNAL_ERROR, message="the client is gone; its command was ended") from error
        task = self._task_of(context, arguments, reply)
        if task is not None:
            return task
        started = job_of(reply.details)
        if started is not None:
            self.notices.own(started, session)
        return result_of(reply, version=context.protocol_version, told=self.notices.take(session))

    # Resources.

    async def list_resources(self, context: Context, params: PaginatedRequestParams) -> dict[str, Any]:
        with _translated(params.cursor):
            own, _ = await own_jobs(self._toolbox.shell.owner, self._engine.jobs.list())
            return resources.listed(self._engine, own.jobs, params.cursor)

    async def list_templates(self, context: Context, params: PaginatedRequestParams) -> dict[str, Any]:
        return {"resultType": COMPLETE, "resourceTemplates": resources.TEMPLATES}

    async def read_resource(self, context: Context, params: ReadResourceRequestParams) -> dict[str, Any]:
        with _translated(params.uri):
            return resources.read(self._engine, params.uri)

    async def subscribe(self, context: Context, params: SubscribeRequestParams) -> dict[str, Any]:
        self.notices.watch(params.uri, context.session)
        return {}

    async def unsubscribe(self, context: Context, params: UnsubscribeRequestParams) -> dict[str, Any]:
        self.notices.unwatch(params.uri, context.session)
        return {}

    # Tasks.

    def _task_of(self, context: Context, arguments: Mapping[str, Any], reply: Reply) -> dict[str, Any] | None:
        """Return the task that the call goes on as, if the client supports tasks."""
        if not tasks.is_declared(context):
            return None
        job_id = tasks.kept_by_itself(arguments, reply)
        if job_id is None:
            return None
        self.notices.give_as_task(job_id)
        return tasks.created(self._engine.jobs.get(job_id), hours=self._hours)

    @property
    def _hours(self) -> float:
        return self._engine.settings.jobs.job_hours

    async def get_task(self, context: Context, params: tasks.TaskParams) -> dict[str, Any]:
        job = tasks.find(self._engine.jobs, params.task_id, context)
        return tasks.current(job, hours=self._hours, version=context.protocol_version)

    async def cancel_task(self, context: Context, params: tasks.TaskParams) -> dict[str, Any]:
        self._engine.jobs.stop(tasks.find(self._engine.jobs, params.task_id, context).id)
        return {"resultType": COMPLETE}

    async def update_task(self, context: Context, params: tasks.TaskUpdateParams) -> dict[str, Any]:
        """Acknowledge: no task waits for an answer, because approval comes before the start of a command."""
        tasks.find(self._engine.jobs, params.task_id, context)
        return {"resultType": COMPLETE}


@contextmanager
def _translated(subject: str | None) -> Iterator[None]:
    try:
        yield
    except NacreError as error:
        raise MCPError(code=INVALID_PARAMS, message=str(error), data={"uri": subject}) from error


def session_of(context: Context) -> Session:
    """Return the shell session of a call: the one that the client names, else that of its connection.

    With newer protocol versions over HTTP there is no connection: without a name, the call gets a shell of its own.
    """
    meta = (context.params or {}).get("_meta") or {}
    named = meta.get(SESSION_KEY)
    if named is not None:
        if not isinstance(named, str) or not named:
            raise MCPError(code=INVALID_PARAMS, message=f"_meta {SESSION_KEY!r} must be a name, got {named!r}")
        return f"{NAMED}{named}"
    if context.request is None:
        return PIPE_SESSION
    connection = context.request.headers.get(SESSION_HEADER)
    return None if connection is None else connection_session(connection)


def connection_session(connection: str) -> str:
    return f"http:{connection}"


def report_of(context: Context) -> Report | None:
    """Return the function that reports progress; None if the client did not ask for it."""
    meta = (context.params or {}).get("_meta") or {}
    if meta.get("progressToken") is None:
        return None

    async def report(seconds: float, text: str) -> None:
        await context.session.report_progress(seconds, message=text)

    return report


def gone_of(context: Context) -> asyncio.Event | None:
    """Return the event that the client is gone; older protocol versions over HTTP do not cancel the call."""
    return None if context.request is None else context.request.scope.get(GONE)


def _is_traced() -> bool:
    """True if this program exports traces."""
    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


def build(handlers: Handlers) -> Server[None]:
    """Return the SDK's server for these handlers, which are closed with it."""

    @asynccontextmanager
    async def lifespan(_: Server[None]) -> AsyncIterator[None]:
        try:
            async with handlers.notices.watched():
                yield
        finally:
            await handlers.aclose()

    server = Server(
        NAME,
        version=nacre.__version__,
        title="nacre shell",
        instructions=INSTRUCTIONS,
        lifespan=lifespan,
        get_tool_input_schema=handlers.input_schema,
        cache_hints=CACHE_HINTS,
        on_subscriptions_listen=ListenHandler(handlers.notices.bus),
    )
    if not _is_traced():
        # The SDK's span around every request costs 0.25 ms.
        server.middleware.clear()
    server.extensions[tasks.EXTENSION] = {}
    server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=NAME))
    server.add_request_handler("tools/list", PaginatedRequestParams, handlers.list_tools)
    server.add_request_handler("tools/call", CallToolRequestParams, handlers.call_tool)
    server.add_request_handler("resources/list", PaginatedRequestParams, handlers.list_resources)
    server.add_request_handler("resources/templates/list", PaginatedRequestParams, handlers.list_templates)
    server.add_request_handler("resources/read", ReadResourceRequestParams, handlers.read_resource)
    server.add_request_handler("resources/subscribe", SubscribeRequestParams, handlers.subscribe)
    server.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, handlers.unsubscribe)
    server.add_request_handler("tasks/get", tasks.TaskParams, handlers.get_task)
    server.add_request_handler("tasks/update", tasks.TaskUpdateParams, handlers.update_task)
    server.add_request_handler("tasks/cancel", tasks.TaskParams, handlers.cancel_task)
    return server
