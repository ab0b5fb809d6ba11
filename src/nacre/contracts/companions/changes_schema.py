"""The schema of the `changes` tool. Pure."""

from __future__ import annotations

from typing import Any

from nacre.contracts.contract import SchemaContext
from nacre.contracts.tool_schema import text_property, tool_schema

DESCRIPTION = """\
What a command with `try: true` would change in the workspace. With `id` alone it lists every added, modified and
deleted path. `commit` carries the changes over to the workspace, `discard` throws them away: true for all of them, or a
list of paths. A path that was changed in the workspace since the try is a conflict: it is named and left alone."""


def schema(context: SchemaContext) -> dict[str, Any]:
    """Return name, description and input schema, as the model sees them."""
    return tool_schema(
        "changes",
        DESCRIPTION,
        {
            "id": text_property("the id of the try, e.g. try_1"),
            "commit": _choice("keep these changes"),
            "discard": _choice("drop these changes"),
        },
        required=["id"],
    )


def _choice(what: str) -> dict[str, Any]:
    paths = {"type": "array", "items": {"type": "string"}}
    return {
        "anyOf": [{"type": "boolean"}, paths, {"type": "string"}],
        "description": f"true, or paths in the workspace: {what}",
    }
