"""The fields that select a part of kept output, in the schemas of the `job` and `read` tools. Pure."""

from __future__ import annotations

from typing import Any

FIELDS = ("lines", "tail", "grep", "offset", "limit")


def properties(most: int) -> dict[str, Any]:
    """Return the schema of the fields; an answer has at most so many bytes."""
    return {
        "lines": {"type": "string", "description": 'these lines, counted from 1: "100:150", "100:" or ":50"'},
        "tail": {"type": "integer", "minimum": 1, "description": "the last lines only"},
        "grep": {
            "type": "string",
            "description": "only the lines that match this regular expression (Python's, no lookaround), with numbers",
        },
        "offset": {
            "type": "integer",
            "minimum": 0,
            "description": "first byte to read or search; go on with nextOffset",
        },
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": most,
            "description": f"most bytes to return (default and at most {most})",
        },
    }
