"""The person's own commands: one persistent shell, guarded by questions instead of refusals (D36)."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nacre.api import PROFILE
from nacre.contracts.contract import Reply, SchemaContext
from nacre.contracts.fields import arguments_of, command_of
from nacre.errors import NacreError
from nacre.kept_command import Background
from nacre.request import ShellRequest
from nacre.result import ShellResult
from nacre.tool import Tool
from nacre.tool_events import Update

if TYPE_CHECKING:
    from nacre.guard.approval import Approver
    from nacre.settings import Settings

PERSON = "person"
"""The contract of a person's commands, in the log and in the feed."""


class PersonContract:
    """A command in, its text out; the facts of the result are in `details`."""

    profile = replace(PROFILE, contract=PERSON, persists=True, sources_rc=True, adopts_survivors=True)

    def schema(self, context: SchemaContext) -> dict[str, Any]:
        fields = {"command": {"type": "string", "description": "The bash command to run"}}
        schema = {"type": "object", "properties": fields, "required": ["command"], "additionalProperties": False}
        return {"name": PERSON, "description": f"A person's command in {context.cwd}.", "input_schema": schema}

    def decode(self, arguments: object) -> ShellRequest:
        return ShellRequest(command=command_of(arguments_of(arguments, known=["command"])), by="person")

    def present(self, result: ShellResult | Background) -> Reply:
        assert isinstance(result, ShellResult), "a person's command stays in the foreground"
        return Reply(text=result.text, is_error=not result.ok, details={"result": result}, notices=result.notices)

    def refuse(self, error: NacreError) -> Reply:
        return Reply(text=str(error), is_error=True)


class PersonSession:
    """The shell of the person at the console; a `cd` moves it."""

    def __init__(
        self,
        *,
        approver: Approver | None = None,
        cwd: str | os.PathLike[str] | None = None,
        settings: Settings | None = None,
    ) -> None:
        self._tool = Tool(PersonContract(), cwd=cwd, settings=settings, approver=approver)

    @property
    def cwd(self) -> str:
        return self._tool.cwd

    def run(self, command: str) -> AsyncGenerator[Update | Reply, None]:
        """Run a command; yields its live tail, then the reply. Leaving early stops the command."""
        return self._tool.stream({"command": command})

    async def aclose(self) -> None:
        await self._tool.aclose()
