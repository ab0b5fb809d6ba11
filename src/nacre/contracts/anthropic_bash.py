"""The `anthropic` contract: the shell that models are trained on, `{command, restart}`, one persistent bash. Pure.

The answer is text, as for `modes`: the failure first, then the output, then notices.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nacre.contracts.contract import Reply, SchemaContext
from nacre.contracts.fields import arguments_of, command_of, flag_of
from nacre.contracts.modes import Modes, present_result
from nacre.contracts.tool_schema import text_property, tool_schema
from nacre.errors import InvalidRequestError, NacreError
from nacre.kept_command import Background
from nacre.profile import GUARD_DENIAL
from nacre.request import ShellRequest
from nacre.result import ShellResult

TIMEOUT_SECONDS = 300.0

DESCRIPTION = """\
Runs commands in a bash shell and returns stdout and stderr merged in true order.

- The shell persists: directory, variables and functions stay from one command to the next. `restart: true` begins anew.
- A command that takes longer than 300 s is ended with everything it started; the shell's state is kept.
- stdin is empty and prompts are disabled. Start servers with `&`; they go on running.
- Working directory: {cwd}"""


class Anthropic:
    """The contract `anthropic`."""

    profile = replace(
        Modes.profile,
        contract="anthropic",
        timeout=TIMEOUT_SECONDS,
        grace=5.0,
        completion_line=False,
        persists=True,
        # The texts and the staging rule of `modes` are its own (D29).
        rules=(),
        denial=GUARD_DENIAL,
        minimizes=True,
        quiets=True,
    )

    def schema(self, context: SchemaContext) -> dict[str, Any]:
        return tool_schema(
            "bash",
            DESCRIPTION.format(cwd=context.cwd),
            {
                "command": text_property("The bash command to run; needed unless restarting"),
                "restart": {"type": "boolean", "description": "true ends the shell and begins a new one"},
            },
        )

    def decode(self, arguments: object) -> ShellRequest:
        fields = arguments_of(arguments, known=["command", "restart"])
        if not flag_of(fields, "restart"):
            return ShellRequest(command=command_of(fields))
        if fields.get("command") is not None:
            raise InvalidRequestError(
                "fields 'command' and 'restart' cannot be combined: restart first, then run the command",
                field="restart",
            )
        return ShellRequest(command="", mode="restart")

    def present(self, result: ShellResult | Background) -> Reply:
        assert isinstance(result, ShellResult)
        return present_result(result)

    def refuse(self, error: NacreError) -> Reply:
        return Modes().refuse(error)
