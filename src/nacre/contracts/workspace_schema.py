"""The schema of the `workspace` tool: what the model reads before it calls. Pure."""

from __future__ import annotations

from typing import Any

from nacre.contracts.contract import SchemaContext
from nacre.contracts.tool_schema import text_property, tool_schema, until_property

DESCRIPTION = """\
Runs a shell command with bash in the workspace and returns stdout and stderr merged in true order.

{state}
- `timeout` (default 300 s, at most 3600) kills the command and everything it started.{moving}
- Output over {most} is shown as its first and last lines. All of it is kept: read the artifact that the result names
  with the `read` tool, or with `cat artifact://ID`. Never pipe into head or tail to save tokens and never run a command
  again to see more of its output.
- stdin is empty and prompts are disabled. A failing stage hidden by a pipe is pointed out.
{background}- Working directory: {cwd}"""

PERSISTS = """\
- One shell for all calls: its directory, variables and functions stay. `cwd` and `env` are for one call only; use `env`
  for values with quotes or newlines. Calls run one at a time."""

STATELESS = """\
- State (cwd, variables, functions) does not carry over between calls: use `cwd`, and `env` for values with quotes or
  newlines."""

BACKGROUND = """\
- Servers, watchers and long builds: `async: true` returns a job id at once, or `until` ({"port": 3000},
  {"regex": "ready"}, {"file": "out.log"}, {"quiet": 5}) returns when that has happened and keeps the command as a job.
  What a command leaves running with `&` becomes a job too.
- A job's result is delivered when it ends. Do not poll with sleep, ps or tail: the `job` tool waits for you (poll).
"""

MOVING = """ A command that merely takes
  longer than {window} is not killed before its timeout: it goes on as a background job, and you get its id."""

SESSION = "Name of a shell to run in: calls with the same name share directory, variables and functions"


def schema(context: SchemaContext) -> dict[str, Any]:
    """Return name, description and input schema, as the model sees them."""
    properties: dict[str, Any] = {
        "command": text_property("Shell command to run; multi-line scripts are fine"),
        "env": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": "Extra environment variables, passed as values, not as shell text",
        },
        "timeout": {
            "type": "number",
            "description": "Seconds until the command and all it started are killed (default 300, 1 to 3600)",
        },
        "cwd": text_property("Directory to run in, relative to the working directory"),
        "pty": {"type": "boolean", "description": "Only for programs that need a real terminal"},
        "head": {"type": "integer", "minimum": 1, "description": "Show only the first lines; all is kept"},
        "tail": {"type": "integer", "minimum": 1, "description": "Show only the last lines; all is kept"},
    }
    properties["raw"] = {
        "type": "boolean",
        "description": "Show the output unshortened; usual noise is hidden otherwise",
    }
    properties["try"] = {
        "type": "boolean",
        "description": "Run on an overlay: nothing changes until you commit it with the `changes` tool",
    }
    if context.async_enabled:
        properties["until"] = until_property(
            "Return when this has happened and keep the command as a job; give exactly one",
            regex="appears in the output",
        )
        properties["async"] = {
            "type": "boolean",
            "description": "Start as a background job and return its id at once; it is not waited for",
        }
    if context.names_sessions:
        properties["session"] = text_property(SESSION)
    moves = context.async_enabled and context.window > 0
    description = DESCRIPTION.format(
        state=PERSISTS if context.persists else STATELESS,
        moving=MOVING.format(window=f"{context.window:g} s") if moves else "",
        background=BACKGROUND if context.async_enabled else "",
        cwd=context.cwd,
        most=f"{context.inline_bytes / 1024:.3g} KB",
    )
    return tool_schema("bash", description, properties, required=["command"])
