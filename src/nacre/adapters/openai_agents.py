"""openai-agents: the executor of its ShellTool, on the contract `openai`."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable

from nacre.adapters.framework import framework
from nacre.errors import InvalidRequestError
from nacre.tool import Tool

with framework("openai-agents"):
    from agents import ShellCallOutcome, ShellCommandOutput, ShellCommandRequest, ShellResult


def shell_executor(tool: Tool) -> Callable[[ShellCommandRequest], Awaitable[ShellResult]]:
    """Return the executor: `ShellTool(executor=shell_executor(nacre.Tool("openai")))`."""
    if tool.contract != "openai":
        raise InvalidRequestError(
            f'the executor needs a nacre.Tool("openai"), and this one has the contract {tool.contract!r}', field="tool"
        )

    async def execute(request: ShellCommandRequest) -> ShellResult:
        action = {name: value for name, value in dataclasses.asdict(request.data.action).items() if value is not None}
        answer = (await tool.call(action)).json()
        outputs = [
            ShellCommandOutput(
                command=command,
                stdout=entry["stdout"],
                stderr=entry["stderr"],
                outcome=ShellCallOutcome(**entry["outcome"]),
            )
            # A refused call has one entry for all its commands.
            for command, entry in zip(action["commands"], answer["output"], strict=False)
        ]
        return ShellResult(outputs, max_output_length=answer.get("max_output_length"))

    return execute
