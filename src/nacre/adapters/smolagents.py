"""smolagents: a nacre tool as a smolagents Tool, which has no event loop."""

from __future__ import annotations

from typing import Any

from nacre.adapters.framework import framework
from nacre.adapters.sync import SyncTool
from nacre.tool import Tool

with framework("smolagents"):
    import smolagents


class ShellTool(smolagents.Tool):
    """The tool for `ToolCallingAgent` and `CodeAgent`."""

    output_type = "string"
    # The contract defines the fields, not the signature of `forward`.
    skip_forward_signature_validation = True

    def __init__(self, tool: Tool) -> None:
        schema = tool.schema()
        fields = schema["input_schema"]
        self.name = schema["name"]
        self.description = schema["description"]
        self.inputs = {
            name: _input(field, required=name in fields.get("required", ()))
            for name, field in fields["properties"].items()
        }
        self._tool = SyncTool(tool)
        super().__init__()

    def forward(self, *positional: Any, **named: Any) -> str:
        # Code that a model wrote may pass positional arguments: bash("ls").
        arguments = dict(zip(self.inputs, positional, strict=False)) | named
        return self._tool.call(arguments).text


def _input(field: dict[str, Any], *, required: bool) -> dict[str, Any]:
    """Return a field as smolagents wants it: with type, description, and `nullable` if it is optional."""
    known = {"description": "", **field}
    if (kinds := known.pop("anyOf", None)) is not None:
        known["type"] = [kind["type"] for kind in kinds]
    return known | ({} if required else {"nullable": True})
