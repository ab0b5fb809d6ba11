"""The schema of the `job` tool. Pure."""

from __future__ import annotations

from typing import Any

from nacre.contracts.companions.reading_schema import properties
from nacre.contracts.contract import SchemaContext
from nacre.contracts.tool_schema import text_property, tool_schema, until_property

DEFAULT_WAIT = 30.0
LONGEST_WAIT = 600.0

DESCRIPTION = """\
Background jobs: commands that were started with async or until, that outlived their window, or that a command left
running. Exactly one of list, poll, cancel, read, write per call.

- {"list": true}: the jobs of this session and project; with "all": true those of others too.
- {"poll": ["bg_1"], "wait": 30}: waits until one of them ends, at most `wait` seconds; [] is all yours. With `until`
  it also returns when that has happened: {"regex": "ready"}, {"port": 3000}, {"file": "out.log"}, {"quiet": 5}.
  One poll with a long wait replaces many short ones. A finished job's result is in the answer, and not delivered again.
- {"read": "bg_1"}: the newest output, of a running job too; or `lines` "100:150", the last lines with `tail`, lines
  that match with `grep`, or from byte `offset` on.
- {"write": "bg_1", "text": "yes\\n"}: types into the terminal of a job that was started with pty: true; a poll returns
  early when such a job waits for input. {"read": "bg_1", "screen": true}: what its terminal shows.
- {"cancel": ["bg_1"]}: ends the job and everything it started."""


def schema(context: SchemaContext) -> dict[str, Any]:
    """Return name, description and input schema, as the model sees them."""
    most = LONGEST_WAIT if context.most_wait is None else min(context.most_wait, LONGEST_WAIT)
    usual = min(DEFAULT_WAIT, most)
    ids = {"type": "array", "items": {"type": "string"}}
    reading = {
        name: shape | {"description": f"with read: {shape['description']}"}
        for name, shape in properties(context.inline_bytes).items()
    }
    return tool_schema(
        "job",
        DESCRIPTION,
        {
            "list": {"type": "boolean", "description": "true: list the jobs of this session and project"},
            "all": {"type": "boolean", "description": "with list: true lists those of others too"},
            "poll": ids | {"description": "ids to wait for; [] is all of yours that run"},
            "until": until_property(
                "with poll: return when this has happened, too; give exactly one",
                regex="a line of new output matches",
            ),
            "wait": {
                "type": "number",
                "minimum": 0,
                "description": f"with poll: most seconds to wait (default {usual:g}, at most {most:g})",
            },
            "cancel": ids | {"description": "ids to end"},
            "read": text_property("id whose output to read"),
            **reading,
            "screen": {"type": "boolean", "description": "with read: true gives the text on the job's terminal"},
            "write": text_property("id whose terminal to type into"),
            "text": text_property("with write: the text, with its newline"),
        },
    )
