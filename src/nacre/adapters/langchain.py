"""LangChain: a nacre tool as a StructuredTool. The model reads the text of the reply, a program the artifact."""

from __future__ import annotations

from typing import Any

from nacre.adapters.framework import framework
from nacre.adapters.sync import SyncTool
from nacre.contracts.contract import Reply
from nacre.tool import Tool

with framework("langchain"):
    from langchain_core.messages import ToolMessage
    from langchain_core.tools import StructuredTool


class ReplyTool(StructuredTool):
    """A tool whose message has the status of the call, and the whole reply as its artifact."""

    def run(self, *args: Any, **options: Any) -> Any:
        return _with_status(super().run(*args, **options))

    async def arun(self, *args: Any, **options: Any) -> Any:
        return _with_status(await super().arun(*args, **options))


def langchain_tool(tool: Tool) -> ReplyTool:
    """Return the tool for `create_agent`, `bind_tools` and the like, sync and async."""
    sync = SyncTool(tool)

    async def call(**arguments: Any) -> tuple[str, Reply]:
        reply = await tool.call(arguments)
        return reply.text, reply

    def call_sync(**arguments: Any) -> tuple[str, Reply]:
        reply = sync.call(arguments)
        return reply.text, reply

    schema = tool.schema()
    return ReplyTool(
        name=schema["name"],
        description=schema["description"],
        args_schema=schema["input_schema"],
        func=call_sync,
        coroutine=call,
        response_format="content_and_artifact",
    )


def _with_status(answer: Any) -> Any:
    """Mark the message of a failed call; a direct call without an id gives a bare text without a status."""
    if isinstance(answer, ToolMessage) and isinstance(answer.artifact, Reply) and answer.artifact.is_error:
        answer.status = "error"
    return answer
