"""The schema of the `read` tool. Pure."""

from __future__ import annotations

from typing import Any

from nacre.contracts.companions.reading_schema import properties
from nacre.contracts.contract import SchemaContext
from nacre.contracts.tool_schema import text_property, tool_schema

DESCRIPTION = """\
Reads the full output of an earlier command, which is kept as an artifact when a result shows only part of it. Give the
id or the uri from that result's notice. Nothing is run again.

- `lines` reads a range of lines, `tail` the last ones. `grep` finds lines and gives their numbers, to read around them.
- `offset` and `limit` read a window by bytes; the answer's last line says how to go on.

The output of a background job is read with the `job` tool."""


def schema(context: SchemaContext) -> dict[str, Any]:
    """Return name, description and input schema, as the model sees them."""
    number = {"anyOf": [{"type": "string"}, {"type": "integer"}], "description": "the number alone; give uri or id"}
    return tool_schema(
        "read",
        DESCRIPTION,
        {"uri": text_property("e.g. artifact://3"), "id": number, **properties(context.inline_bytes)},
    )
