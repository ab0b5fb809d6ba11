"""LangChain: a nacre tool as a StructuredTool. The model reads the reply's text, your program its artifact."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import StructuredTool

from nacre.adapters.sync import SyncTool
from nacre.contracts.contract import Reply
from nacre.tool import Tool


class ShellTool(StructuredTool):
    """A tool whose message says by its status that the call failed, and has the whole reply as its artifact."""

    def run(self, *args: Any, **options: Any) -> Any:
        return _with_status(super().run(*args, **options))

    async def arun(self, *args: Any, **options: Any) -> Any:
        return _with_status(await super().arun(*args, **options))


def langchain_tool(tool: Tool) -> ShellTool:
    """The tool for `create_agent`, `bind_tools` and the like, sync and async."""
    sync = SyncTool(tool)

    async def call(**arguments: Any) -> tuple[str, Reply]:
        reply = await tool.call(arguments)
        return reply.text, reply

    def call_sync(**arguments: Any) -> tuple[str, Reply]:
        reply = sync.call(arguments)
        return reply.text, reply

    schema = tool.schema()
    return ShellTool(
        name=schema["name"],
        description=schema["description"],
        args_schema=schema["input_schema"],
        func=call_sync,
        coroutine=call,
        response_format="content_and_artifact",
    )


def _with_status(answer: Any) -> Any:
    """Marked as an error, where it is one; a direct call without an id gives the bare text, which has no status."""
    if isinstance(answer, ToolMessage) and isinstance(answer.artifact, Reply) and answer.artifact.is_error:
        answer.status = "error"
    return answer
