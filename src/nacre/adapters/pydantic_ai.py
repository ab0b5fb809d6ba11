"""pydantic-ai: nacre tools as a toolset, open for as long as a run uses it.

Overlapping runs may share a toolset; its tools are closed and their sessions ended with the last run. For a shell per
run, make the toolset in a function: `@agent.toolset(per_run_step=False)`.
"""

from __future__ import annotations

from typing import Any, Self

from nacre.adapters.framework import framework
from nacre.errors import InvalidRequestError
from nacre.tool import Tool

with framework("pydantic-ai"):
    from pydantic_ai import RunContext, ToolDefinition, ToolReturn
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
    from pydantic_core import SchemaValidator, core_schema

# The contract checks the arguments and gives better answers than a validator.
_ANYTHING = SchemaValidator(core_schema.any_schema())


class ShellToolset(AbstractToolset[Any]):
    """The tools for `Agent(…, toolsets=[…])`; the metadata of a result is the whole reply."""

    def __init__(self, *tools: Tool, id: str | None = None) -> None:
        self._tools = {tool.schema()["name"]: tool for tool in tools}
        if len(self._tools) < len(tools):
            named = ", ".join(f"{tool.contract}: {tool.schema()['name']}" for tool in tools)
            raise InvalidRequestError(f"the tools of a toolset need different names, got {named}", field="tools")
        self._id = id
        self._runs = 0

    @property
    def id(self) -> str | None:
        return self._id

    async def __aenter__(self) -> Self:
        self._runs += 1
        return self

    async def __aexit__(self, *_: object) -> None:
        self._runs -= 1
        if self._runs == 0:
            for tool in self._tools.values():
                await tool.aclose()

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        return {
            name: ToolsetTool(
                toolset=self, tool_def=_definition(tool.schema()), max_retries=0, args_validator=_ANYTHING
            )
            for name, tool in self._tools.items()
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> ToolReturn:
        # A failed command is an ordinary result: some models read the failure of a tool as JSON.
        reply = await self._tools[name].call(tool_args)
        return ToolReturn(reply.text, metadata=reply)


def _definition(schema: dict[str, Any]) -> ToolDefinition:
    return ToolDefinition(
        name=schema["name"], description=schema["description"], parameters_json_schema=schema["input_schema"]
    )
