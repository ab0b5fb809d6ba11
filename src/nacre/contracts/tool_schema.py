"""The parts that the tool schemas of all contracts share. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nacre.contracts.contract import SchemaContext

if TYPE_CHECKING:
    from nacre.settings import Settings


def context_of(
    settings: Settings,
    cwd: str,
    *,
    persists: bool = True,
    moves: bool = True,
    names_sessions: bool = False,
    most_wait: float | None = None,
) -> SchemaContext:
    """Return what a schema depends on, by the settings and the caller.

    Args:
        moves: whether a command that takes long becomes a job.
    """
    window = settings.jobs.auto_background_seconds if moves else 0.0
    return SchemaContext(
        cwd,
        async_enabled=settings.jobs.async_enabled,
        window=window if most_wait is None else min(window, most_wait),
        persists=persists and settings.sessions.persist,
        names_sessions=names_sessions and settings.sessions.persist,
        most_wait=most_wait,
        inline_bytes=settings.output.inline_bytes,
    )


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
