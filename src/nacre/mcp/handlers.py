"""Answers the requests of clients with the tools of one server, whatever wire they came over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from nacre.contracts.contract import Reply
from nacre.engine.engine import Engine
from nacre.errors import NacreError
from nacre.jobs.ownership import own_jobs
from nacre.mcp import resources, tasks
from nacre.mcp.answer import job_of, result_of
from nacre.mcp.call import GoneError, run_call
from nacre.mcp.call_channel import CallChannel
from nacre.mcp.elicitation import ASKING, Asking, OpenQuestions, QuestionError, UnknownStateError
from nacre.mcp.job_notices import Notices
from nacre.mcp.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, RpcError
from nacre.mcp.machine import ServerCall
from nacre.mcp.toolbox import SessionKey, Toolbox, session_in, session_of


class Handlers:
    """One for each server; a call's method selects the function."""

    def __init__(self, toolbox: Toolbox) -> None:
        self.toolbox = toolbox
        self.notices = Notices(toolbox.shell)
        self._questions = OpenQuestions()
        self._methods = {
            "tools/list": self.list_tools,
            "tools/call": self.call_tool,
            "resources/list": self._list_resources,
            "resources/templates/list": self._list_templates,
            "resources/read": self._read_resource,
            "resources/subscribe": self._subscribe,
            "resources/unsubscribe": self._unsubscribe,
            "tasks/get": self._get_task,
            "tasks/update": self._update_task,
            "tasks/cancel": self._cancel_task,
        }

    @property
    def methods(self) -> list[str]:
        return list(self._methods)

    async def answer(self, call: ServerCall, channel: CallChannel) -> Mapping[str, Any]:
        """The result of a call.

        Raises:
            RpcError: the call is answered with an error.
        """
        return await self._methods[call.method](call, channel)

    def prepare(self, session: SessionKey) -> None:
        """Load what the first command of a session needs."""
        tool = self.toolbox.find(next(iter(self.toolbox.described(session))), session)
        if tool is not None:
            tool.prepare()

    async def end(self, session: str) -> None:
        """Give back what a session holds; its client has ended it."""
        self.notices.forget(session)
        await self.toolbox.end(session)

    async def aclose(self) -> None:
        await self.toolbox.aclose()

    # Tools.

    async def list_tools(self, call: ServerCall, channel: CallChannel) -> Mapping[str, Any]:
        return self.toolbox.listed(session_of(call, channel))

    async def call_tool(self, call: ServerCall, channel: CallChannel) -> Mapping[str, Any]:
        session = session_of(call, channel)
        name, arguments = call.params["name"], call.params.get("arguments") or {}
        tool = self.toolbox.find(name, session)
        if tool is None:
            known = ", ".join(self.toolbox.described(session))
            raise RpcError(INVALID_PARAMS, f"there is no tool {name!r}; there are {known}")
        if self.toolbox.is_named_in(name, arguments):
            try:
                session, arguments = session_in(arguments, session)
            except NacreError as error:
                return self._result_of(call, session, tool.refusal(error))
            tool = self.toolbox.find(name, session) or tool
        ASKING.set(Asking(call, channel, self._questions))
        report = channel.report if call.meta.get("progressToken") is not None else None
        try:
            reply = await run_call(tool, arguments, report, gone=channel.gone)
        except QuestionError as question:
            return question.result
        except UnknownStateError as error:
            raise RpcError(INVALID_PARAMS, str(error)) from error
        except GoneError as error:
            raise RpcError(INTERNAL_ERROR, "the client is gone; its command was ended") from error
        return self._task_of(call, arguments, reply) or self._result_of(call, session, reply)

    def _result_of(self, call: ServerCall, session: SessionKey, reply: Reply) -> dict[str, Any]:
        started = job_of(reply.details)
        if started is not None:
            self.notices.own(started, session)
        told = self.notices.take(session)
        return result_of(reply, revision=call.revision, told=told, structured=self.toolbox.structured)

    # Resources.

    async def _list_resources(self, call: ServerCall, channel: CallChannel) -> Mapping[str, Any]:
        cursor = call.params.get("cursor")
        with _translated(cursor):
            own, _ = await own_jobs(self.toolbox.shell.owner, self._engine.jobs.list())
            return resources.listed(self._engine, own.jobs, cursor)

    async def _list_templates(self, call: ServerCall, channel: CallChannel) -> Mapping[str, Any]:
        return {"resourceTemplates": resources.TEMPLATES}

    async def _read_resource(self, call: ServerCall, channel: CallChannel) -> Mapping[str, Any]:
        uri = call.params["uri"]
        with _translated(uri):
            return await resources.read(self._engine, uri)

    async def _subscribe(self, call: ServerCall, channel: CallChannel) -> Mapping[str, Any]:
        self.notices.watch(call.params["uri"], channel)
        return {}

    async def _unsubscribe(self, call: ServerCall, channel: CallChannel) -> Mapping[str, Any]:
        self.notices.unwatch(call.params["uri"], channel)
        return {}

    # Tasks.

    def _task_of(self, call: ServerCall, arguments: Mapping[str, Any], reply: Reply) -> dict[str, Any] | None:
        """The task that a call goes on as, where its client knows tasks."""
        if not tasks.is_declared(call):
            return None
        job_id = tasks.kept_by_itself(arguments, reply)
        if job_id is None:
            return None
        self.notices.give_as_task(job_id)
        return tasks.created(self._engine.jobs.get(job_id), hours=self._hours)

    async def _get_task(self, call: ServerCall, channel: CallChannel) -> Mapping[str, Any]:
        job = tasks.find(self._engine.jobs, call)
        return tasks.current(job, hours=self._hours, revision=call.revision)

    async def _cancel_task(self, call: ServerCall, channel: CallChannel) -> Mapping[str, Any]:
        self._engine.jobs.stop(tasks.find(self._engine.jobs, call).id)
        return {}

    async def _update_task(self, call: ServerCall, channel: CallChannel) -> Mapping[str, Any]:
        """No task of ours waits for an answer: a command is asked about before it starts."""
        tasks.find(self._engine.jobs, call)
        return {}

    @property
    def _engine(self) -> Engine:
        return self.toolbox.shell.engine

    @property
    def _hours(self) -> float:
        return self._engine.settings.jobs.job_hours


@contextmanager
def _translated(subject: str | None) -> Iterator[None]:
    try:
        yield
    except NacreError as error:
        raise RpcError(INVALID_PARAMS, str(error), {"uri": subject}) from error
