"""The official SDK's server in front of the handlers, for HTTP: its security, sessions and streams, our answers.

Importing the SDK takes most of a second: this module and `http` import it, and nothing else does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.server import ServerRequestContext
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated
from mcp.types import (
    CallToolRequestParams,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    RequestParams,
    SubscribeRequestParams,
    UnsubscribeRequestParams,
)
from opentelemetry import trace

from nacre.mcp.catalogue import CARD
from nacre.mcp.handlers import Handlers
from nacre.mcp.jsonrpc import HEADER_MISMATCH, RpcError
from nacre.mcp.machine import TASKS, ServerCall

SESSION_HEADER = "mcp-session-id"
NAME_HEADER = "mcp-name"
# Of a request's scope: set once its client cannot read the answer any more.
GONE = "nacre.gone"

CACHE_HINTS: dict[CacheableMethod, CacheHint] = {
    "tools/list": CacheHint(ttl_ms=60_000),
    "resources/templates/list": CacheHint(ttl_ms=60_000),
    "resources/list": CacheHint(),
    "resources/read": CacheHint(),
}

Context = ServerRequestContext[Any, Any]


class TaskParams(RequestParams):
    """Of the methods of the tasks extension."""

    task_id: str
    input_responses: dict[str, Any] | None = None


_PARAMS: dict[str, type[RequestParams]] = {
    "tools/list": PaginatedRequestParams,
    "tools/call": CallToolRequestParams,
    "resources/list": PaginatedRequestParams,
    "resources/templates/list": PaginatedRequestParams,
    "resources/read": ReadResourceRequestParams,
    "resources/subscribe": SubscribeRequestParams,
    "resources/unsubscribe": UnsubscribeRequestParams,
    "tasks/get": TaskParams,
    "tasks/update": TaskParams,
    "tasks/cancel": TaskParams,
}


def build(handlers: Handlers) -> Server[None]:
    """The SDK's server; the handlers are closed with it."""
    bus = InMemorySubscriptionBus()

    @asynccontextmanager
    async def lifespan(_: Server[None]) -> AsyncIterator[None]:
        publishing: set[asyncio.Task[None]] = set()

        def publish(uri: str) -> None:
            task = asyncio.create_task(_publish(bus, uri))
            publishing.add(task)
            task.add_done_callback(publishing.discard)

        handlers.notices.listeners.append(publish)
        following = asyncio.create_task(handlers.notices.follow())
        try:
            yield
        finally:
            following.cancel()
            await asyncio.wait([following])
            handlers.notices.listeners.remove(publish)
            await handlers.aclose()

    server = Server(
        CARD.name,
        version=CARD.version,
        title=CARD.title,
        instructions=CARD.instructions,
        lifespan=lifespan,
        get_tool_input_schema=handlers.toolbox.input_schema,
        cache_hints=CACHE_HINTS,
        on_subscriptions_listen=ListenHandler(bus),
    )
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        # The SDK's span around every request, a quarter of a millisecond; this program has no place to send traces to.
        server.middleware.clear()
    server.extensions[TASKS] = {}
    for method in handlers.methods:
        server.add_request_handler(method, _PARAMS[method], _handler(handlers, method))
    return server


async def _publish(bus: InMemorySubscriptionBus, uri: str) -> None:
    await bus.publish(ResourceUpdated(uri=uri))
    await bus.publish(ResourcesListChanged())


def _handler(
    handlers: Handlers, method: str
) -> Callable[[Context, RequestParams], Coroutine[Any, Any, dict[str, Any]]]:
    async def handle(context: Context, params: RequestParams) -> dict[str, Any]:
        _check_name(context)
        # The SDK cancels a scope again and again until it is left, which no cleaning up could survive: the call is a
        # task of its own, outside of that scope.
        work = asyncio.create_task(_answer(handlers, _call_of(context, method), SdkChannel(context)))
        try:
            await asyncio.wait([work])
        finally:
            if not work.done():
                work.cancel()
                with anyio.CancelScope(shield=True):
                    await asyncio.wait([work])
        return work.result()

    return handle


async def _answer(handlers: Handlers, call: ServerCall, channel: SdkChannel) -> dict[str, Any]:
    try:
        result = await handlers.answer(call, channel)
    except RpcError as error:
        raise MCPError(code=error.code, message=str(error), data=error.data) from error
    # The SDK takes the field out for revisions that do not know it.
    return {"resultType": "complete", **result}


def _call_of(context: Context, method: str) -> ServerCall:
    capabilities = context.session.client_capabilities
    declared = {} if capabilities is None else capabilities.model_dump(by_alias=True, mode="json", exclude_none=True)
    return ServerCall(
        id=context.request_id if context.request_id is not None else "",
        method=method,
        params=dict(context.params or {}),
        revision=context.protocol_version,
        capabilities=declared,
    )


def _check_name(context: Context) -> None:
    """The SDK compares the name header with the body for its own methods; this does it for tasks."""
    task_id = (context.params or {}).get("taskId")
    named = None if context.request is None else context.request.headers.get(NAME_HEADER)
    if isinstance(task_id, str) and named is not None and named != task_id:
        raise MCPError(code=HEADER_MISMATCH, message=f"the header {NAME_HEADER} does not name the task {task_id!r}")


class SdkChannel:
    """The way back to the client of one call over HTTP."""

    def __init__(self, context: Context) -> None:
        self._context = context
        request = context.request
        header = None if request is None else request.headers.get(SESSION_HEADER)
        # A request of the modern era has no connection: unless it names a session, it gets a shell of its own.
        self.session = None if header is None else connection_session(header)
        self.gone: asyncio.Event | None = None if request is None else request.scope.get(GONE)
        # Each request has a session object of its own; the client's parameters are its connection's.
        self.connection: object = context.session.client_params

    async def report(self, seconds: float, text: str) -> None:
        await self._context.session.report_progress(seconds, message=text)

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            answer = await self._context.session.elicit_form(
                params["message"], params["requestedSchema"], related_request_id=self._context.request_id
            )
        except MCPError as error:
            raise RpcError(error.code, str(error)) from error
        return answer.model_dump(by_alias=True, mode="json")

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        await self._context.session.send_resource_updated(params["uri"])


def connection_session(connection: str) -> str:
    return f"http:{connection}"
