"""Anthropic's tool runner: a nacre tool as a runnable tool, async and sync.

The Messages runner never closes its tools, so the program closes the nacre tool: `async with nacre.Tool(…)` around the
runner. Runners that close their tools end the session, too.
"""

from __future__ import annotations

from typing import Any

from nacre.adapters.framework import framework
from nacre.adapters.sync import SyncTool
from nacre.contracts.contract import Reply
from nacre.contracts.vendors import tool_for
from nacre.tool import Tool

with framework("anthropic"):
    from anthropic.lib.tools import BetaAsyncBuiltinFunctionTool, BetaBuiltinFunctionTool, ToolError


class AsyncShellTool(BetaAsyncBuiltinFunctionTool):
    """The tool for `AsyncAnthropic().beta.messages.tool_runner(tools=[…])`."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool

    def to_dict(self) -> Any:
        return _definition(self._tool)

    async def call(self, input: object) -> str:
        return _text(await self._tool.call(input))

    async def aclose(self) -> None:
        await self._tool.aclose()


class ShellTool(BetaBuiltinFunctionTool):
    """The tool for `Anthropic().beta.messages.tool_runner(tools=[…])`."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool
        self._sync = SyncTool(tool)

    def to_dict(self) -> Any:
        return _definition(self._tool)

    def call(self, input: object) -> str:
        return _text(self._sync.call(input))

    def close(self) -> None:
        self._sync.close()


def _definition(tool: Tool) -> Any:
    """Return the definition for the API; for the contract `anthropic` the name of the built-in tool."""
    return tool_for("anthropic", tool.contract, tool.schema())


def _text(reply: Reply) -> str:
    """Return the text for the model; raise a failure, so that the runner marks the result."""
    if reply.is_error:
        raise ToolError(reply.text)
    return reply.text
