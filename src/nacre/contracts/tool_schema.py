"""The parts that the tool schemas of all contracts share. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def tool_schema(
    name: str, description: str, properties: Mapping[str, Any], *, required: Sequence[str] = ()
) -> dict[str, Any]:
    """Return name, description and input schema as a model sees them; other properties are not allowed."""
    shape: dict[str, Any] = {"type": "object", "properties": dict(properties)}
    if required:
        shape["required"] = list(required)
    return {"name": name, "description": description, "input_schema": shape | {"additionalProperties": False}}


def text_property(description: str) -> dict[str, Any]:
    """Return the schema of a string."""
    return {"type": "string", "description": description}


def until_property(description: str, *, regex: str) -> dict[str, Any]:
    """Return the schema of `until`; `regex` says what its expression is matched against."""
    return {
        "type": "object",
        "description": description,
        "properties": {
            "regex": text_property(regex),
            "port": {"type": "integer", "description": "accepts connections on this machine"},
            "file": text_property("exists"),
            "quiet": {"type": "number", "description": "seconds without output"},
        },
        "additionalProperties": False,
    }
