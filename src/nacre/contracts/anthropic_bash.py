"""The `anthropic` contract: the shell that models are trained on, `{command, restart}`, one persistent bash.

The answer is text, as for `modes`: what failed first, then the output, then notices.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nacre.contracts.contract import Reply, Scene
from nacre.contracts.fields import arguments_of, command_of
from nacre.contracts.modes import Modes, present_result
from nacre.errors import InvalidRequestError, NacreError, shown
from nacre.profile import Background
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
    profile = replace(
        Modes.profile,
        contract="anthropic",
        timeout=TIMEOUT_SECONDS,
        grace=5.0,
        completion_line=False,
        persists=True,
    )

    def schema(self, scene: Scene) -> dict[str, Any]:
        return {
            "name": "bash",
            "description": DESCRIPTION.format(cwd=scene.cwd),
            "input_schema": {
                "type": "object",
                "properties": {
                    "command": {"type": "string", "description": "The bash command to run; needed unless restarting"},
                    "restart": {"type": "boolean", "description": "true ends the shell and begins a new one"},
                },
                "additionalProperties": False,
            },
        }

    def decode(self, arguments: object) -> ShellRequest:
        fields = arguments_of(arguments, known=["command", "restart"])
        restart = fields.get("restart")
        if restart is not None and not isinstance(restart, bool):
            raise InvalidRequestError(f"field 'restart' must be true or false, got {shown(restart)}", field="restart")
        if not restart:
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
