"""Answers the requests of one client, many at once, until its input ends.

Every line that is not blank gets exactly one answer. A call is a task whose end is its answer, also if it is aborted.
The end of the server ends foreground commands first; jobs go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from contextlib import aclosing, nullcontext
from functools import partial

from nacre.complaints import complain
from nacre.contracts import COMPANIONS
from nacre.contracts.contract import Reply
from nacre.contracts.fields import arguments_of, command_of
from nacre.contracts.workspace import Workspace
from nacre.contracts.workspace_texts import present_aborted
from nacre.errors import ConfigError, InvalidRequestError
from nacre.json_lines.connection import Connection
from nacre.json_lines.line_reader import TooLong
from nacre.json_lines.running_calls import RunningCall, RunningCalls
from nacre.rpc import json_messages as messages
from nacre.rpc.json_messages import BadLineError, Request
from nacre.rpc.session_tools import SessionTools
from nacre.tool import Tool
from nacre.tool_events import Update

# Commands without a session that run at once, because each holds descriptors and a process; others wait.
MOST_RUNNING = 128
# Calls that are accepted at once, because waiting calls are held in memory; others are refused.
MOST_CALLS = 1024


async def serve(incoming: int, outgoing: int, *, tools: Collection[str] = ()) -> None:
    """Serve one client; return when its input has ended or it has closed our output.

    Args:
        incoming: a descriptor to read requests from.
        outgoing: a descriptor to write answers to.
        tools: names of the model's other tools, which the interceptor may point to.
    """
    server = _Server(incoming, outgoing, tools)
    try:
        await server.run()
    finally:
        await server.aclose()


class _Server:
    def __init__(self, incoming: int, outgoing: int, tools: Collection[str]) -> None:
        self._tools = SessionTools(tools)
        self._companions = {name: Tool(name) for name in COMPANIONS}
        self._connection = Connection(incoming, outgoing, take=self._take, name="nacre rpc")
        self._calls: RunningCalls[Request] = RunningCalls(self._answer, self._ended)
        self._shown: dict[RunningCall[Request], str] = {}
        """The newest output of each command so far."""
        self._turns = asyncio.Semaphore(MOST_RUNNING)
        self._notices = asyncio.create_task(self._tell_of_jobs())
        self._notices.add_done_callback(_complain)

    async def run(self) -> None:
        self._connection.open()
        await self._connection.ended.wait()
        if self._connection.has_reader():
            await self._calls.wait_for_last()

    async def aclose(self) -> None:
        """End the foreground commands, send their answers, and release all resources."""
        self._connection.stop_listening()
        # Only what waits for a command or a job: the rest ends by itself at once.
        await self._calls.end(
            lambda request: request.type == "bash" or "poll" in request.fields, beside=[self._notices]
        )
        await self._connection.aclose()
        self._tools.own.engine.close()

    async def _tell_of_jobs(self) -> None:
        async with aclosing(self._companions["job"].notices()) as notices:
            async for notice in notices:
                self._connection.send(messages.notice(notice.job_id, notice.text, notice.details))
                await self._connection.room.wait()

    # From a line to its answer.

    def _take(self, line: bytes | TooLong) -> None:
        try:
            request = messages.decode(line)
        except BadLineError as error:
            self._connection.send(messages.bad_line(error))
            return
        if request is None:
            return
        if request.type == "abort_bash":
            # Answered at once, not as a call: it must overtake all running calls.
            self._connection.send(self._abort(request))
        elif len(self._calls) >= MOST_CALLS:
            self._connection.send(
                messages.refusal(request, f"{MOST_CALLS} calls wait for their answers, the most; send it again later")
            )
        else:
            self._calls.start(request)

    def _abort(self, request: Request) -> bytes:
        """Stop all commands, or those of one id; their answers follow when their processes are gone."""
        try:
            target = messages.target_of(request)
        except InvalidRequestError as error:
            return messages.refusal(request, str(error))
        bashes = [call for call in self._calls if call.request.type == "bash"]
        chosen = [call for call in bashes if target is None or call.request.id == target]
        for call in chosen:
            call.abort()
        return messages.answer(request, {"aborted": [call.request.id for call in chosen]})

    def _ended(self, call: RunningCall[Request], task: asyncio.Task[bytes]) -> None:
        request, shown = call.request, self._shown.pop(call, "")
        if task.cancelled():
            if request.type == "bash":
                line = messages.answer(request, present_aborted(shown).json())
            else:
                line = messages.refusal(request, "aborted: the server was ended")
        elif (error := task.exception()) is not None:
            _complain(task)
            line = messages.refusal(request, f"a failure of nacre's own, {type(error).__name__}: {error}")
        else:
            line = task.result()
        self._connection.send(line, ends=call)

    async def _answer(self, call: RunningCall[Request]) -> bytes:
        request = call.request
        try:
            if request.type == "bash":
                reply = await self._bash(call)
            elif request.type == "check":
                return messages.answer(request, self._check(request))
            else:
                reply = await self._companions[request.type].call(request.fields)
        except (InvalidRequestError, ConfigError) as error:
            return messages.refusal(request, str(error))
        if isinstance(reply.refusal, InvalidRequestError):
            return messages.refusal(request, reply.text, reply.json())
        return messages.answer(request, reply.json())

    async def _bash(self, call: RunningCall[Request]) -> Reply:
        fields = dict(call.request.fields)
        shell, is_shared = self._tools.take(fields)
        # The calls of a shared shell take turns there.
        turn = nullcontext() if is_shared else self._turns
        reply: Reply | None = None
        async with turn, aclosing(shell.stream(fields)) as stream:
            async for item in stream:
                if isinstance(item, Update):
                    self._shown[call] = item.text
                    self._connection.send_update(call, partial(messages.update, call.request, item.text))
                else:
                    reply = item
        assert reply is not None
        return reply

    def _check(self, request: Request) -> dict[str, object]:
        command = command_of(arguments_of(request.fields, known=["command"]))
        tool = self._tools.own
        return tool.engine.planner.judge(command, Workspace.profile, cwd=tool.cwd).json()


def _complain(task: asyncio.Task[bytes] | asyncio.Task[None]) -> None:
    """Report the failure of a task that is not awaited."""
    if not task.cancelled() and (error := task.exception()) is not None:
        complain("nacre rpc", error)
