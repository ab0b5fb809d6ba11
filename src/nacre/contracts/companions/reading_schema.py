"""The fields that select a part of kept output, in the schemas of the `job` and `read` tools. Pure."""

from __future__ import annotations

from typing import Any

from nacre.output.sizes import EXCERPT_BYTES

FIELDS = ("offset", "limit", "tail", "grep")

PROPERTIES: dict[str, Any] = {
    "offset": {"type": "integer", "minimum": 0, "description": "first byte to read or search; go on with nextOffset"},
    "limit": {
        "type": "integer",
        "minimum": 1,
        "maximum": EXCERPT_BYTES,
        "description": f"most bytes to return (default and at most {EXCERPT_BYTES})",
    },
    "tail": {"type": "integer", "minimum": 1, "description": "the last lines only"},
    "grep": {
        "type": "string",
        "description": "only the lines that match this regular expression (Python's, no lookaround), with offsets",
    },
}
