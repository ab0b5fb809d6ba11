"""Serves one MCP client on two descriptors, as JSON lines: the machine with input, output and the calls' tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from nacre.complaints import complain
from nacre.json_lines.connection import Connection
from nacre.json_lines.line_reader import TooLong
from nacre.json_lines.running_calls import RunningCall, RunningCalls
from nacre.mcp import jsonrpc, subscriptions
from nacre.mcp.catalogue import CARD
from nacre.mcp.jsonrpc import INTERNAL_ERROR, INVALID_REQUEST, RequestId, RpcError
from nacre.mcp.machine import Answered, Cancelled, Machine, Send, ServerCall
from nacre.mcp.toolbox import Toolbox, session_of

if TYPE_CHECKING:
    from nacre.mcp.handlers import Handlers

NAME = "nacre mcp"
# The official SDK's limit for a request over HTTP; a line without an end would fill the memory.
MOST_LINE_BYTES = 4 * 1024 * 1024
# A pipe has one client, and one shell session.
PIPE_SESSION = "stdio"


async def serve_stdio(toolbox: Toolbox, incoming: int, outgoing: int, *, handlers: Handlers | None = None) -> None:
    """Serve until the client closes our input, or stops reading our output.

    Args:
        handlers: answers the requests; made when they are needed unless given.
    """
    server = _StdioServer(toolbox, handlers, incoming, outgoing)
    try:
        await server.run()
    finally:
        await server.aclose()
        await toolbox.aclose()


class _StdioServer:
    def __init__(self, toolbox: Toolbox, handlers: Handlers | None, incoming: int, outgoing: int) -> None:
        self._toolbox = toolbox
        self._given = handlers
        self._following: asyncio.Task[None] | None = None
        self._machine = Machine(CARD)
        self._connection = Connection(incoming, outgoing, take=self._take, name=NAME, longest_line=MOST_LINE_BYTES)
        self._running: RunningCalls[ServerCall] = RunningCalls(self._answer, self._ended)
        self._questions: dict[RequestId, asyncio.Future[Mapping[str, Any]]] = {}

    @property
    def _handlers(self) -> Handlers:
        """The handlers and the engine behind them; loading them takes longer than the rest of the start."""
        if self._given is None:
            from nacre.mcp.handlers import Handlers

            self._given = Handlers(self._toolbox)
        if self._following is None:
            self._following = asyncio.create_task(self._given.notices.follow())
        return self._given

    def _prepare(self) -> None:
        """Get ready for the first command while the client reads the list of tools."""
        if not self._connection.ended.is_set():
            self._handlers.prepare(PIPE_SESSION)

    async def run(self) -> None:
        self._connection.open()
        await self._connection.ended.wait()
        if self._connection.has_reader():
            await self._running.wait_for_last()

    async def aclose(self) -> None:
        """End what runs for this client, and give everything back."""
        self._connection.stop_listening()
        await self._running.end(beside=[self._following] if self._following is not None else [])
        await self._connection.aclose()

    # From a line to its answer.

    def _take(self, line: bytes | TooLong) -> None:
        if isinstance(line, TooLong):
            error = RpcError(INVALID_REQUEST, f"a line is longer than {MOST_LINE_BYTES} bytes")
            self._connection.send(jsonrpc.encode_error(None, error))
            return
        match self._machine.receive(line):
            case Send(answer):
                self._connection.send(answer)
            case ServerCall() as call:
                self._running.start(call)
            case Cancelled(cancelled):
                for running in self._running:
                    if running.request.id == cancelled:
                        running.abort()
            case Answered(question, result, error_text):
                self._answered(question, result, error_text)
            case None:
                return

    async def _answer(self, running: RunningCall[ServerCall]) -> bytes:
        call = running.request
        channel = PipeChannel(self, call, running)
        try:
            if call.method == "tools/list" and self._given is None:
                result: Mapping[str, Any] = self._toolbox.listed(session_of(call, channel))
            elif call.method == "subscriptions/listen":
                result = await subscriptions.listen(call, channel, self._handlers.notices)
            else:
                result = await self._handlers.answer(call, channel)
        except RpcError as error:
            return self._machine.fail(call, error)
        return self._machine.finish(call, result)

    def _ended(self, running: RunningCall[ServerCall], task: asyncio.Task[bytes]) -> None:
        if task.cancelled():
            # By the client, which wants no answer, or by the end of the server, which has no reader.
            return
        if (error := task.exception()) is not None:
            complain(NAME, error)
            failure = RpcError(INTERNAL_ERROR, "a failure of nacre's own; see its stderr")
            line = self._machine.fail(running.request, failure)
        else:
            line = task.result()
        self._connection.send(line, ends=running)
        if running.request.method == "tools/list" and self._given is None:
            self._prepare()

    # The way back of a call.

    def update(self, running: RunningCall[ServerCall], params: Mapping[str, Any]) -> None:
        """Send the newest progress of a call, as soon as the client reads it."""
        make = partial(self._machine.notify, "notifications/progress", params)
        self._connection.send_update(running, make)

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        self._connection.send(self._machine.notify(method, params))

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask the client and wait for its answer; one that is not waited for any more is withdrawn."""
        question, line = self._machine.ask(method, params)
        answer: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._questions[question] = answer
        self._connection.send(line)
        try:
            return await answer
        finally:
            del self._questions[question]
            if not answer.done() or answer.cancelled():
                self._connection.send(self._machine.give_up(question))

    def _answered(self, question: RequestId, result: Mapping[str, Any] | None, error: str | None) -> None:
        future = self._questions.get(question)
        if future is None or future.done():
            return
        if result is None:
            future.set_exception(RpcError(INTERNAL_ERROR, error or "the client gave no reason"))
        else:
            future.set_result(result)


class PipeChannel:
    """The way back to the client of one call on a pipe."""

    session: str | None = PIPE_SESSION
    gone: asyncio.Event | None = None

    def __init__(self, server: _StdioServer, call: ServerCall, running: RunningCall[ServerCall]) -> None:
        self.connection: object = server
        self._server = server
        self._call = call
        self._running = running

    async def report(self, seconds: float, text: str) -> None:
        token = self._call.meta["progressToken"]
        self._server.update(self._running, {"progressToken": token, "progress": seconds, "message": text})

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        return await self._server.ask(method, params)

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        self._server.notify(method, params)
