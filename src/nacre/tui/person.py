"""The person's own commands: one persistent shell, guarded by questions instead of refusals (D36)."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nacre.api import PROFILE
from nacre.command import TerminalSize
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
# A person ends an editor when it is time; this ends a forgotten one.
TERMINAL_SECONDS = 24 * 3600.0


class PersonContract:
    """A command in, its text out; the facts of the result are in `details`."""

    profile = replace(PROFILE, contract=PERSON, persists=True, sources_rc=True, adopts_survivors=True)

    def schema(self, context: SchemaContext) -> dict[str, Any]:
        fields = {"command": {"type": "string", "description": "The bash command to run"}}
        schema = {"type": "object", "properties": fields, "required": ["command"], "additionalProperties": False}
        return {"name": PERSON, "description": f"A person's command in {context.cwd}.", "input_schema": schema}

    def decode(self, arguments: object) -> ShellRequest:
        given = arguments_of(arguments, known=["command", "pty"])
        command = command_of(given)
        if not given.get("pty"):
            return ShellRequest(command=command, by="person")
        return ShellRequest(
            command=command, by="person", terminal=TerminalSize(), answered=True, timeout=TERMINAL_SECONDS
        )

    def present(self, result: ShellResult | Background) -> Reply:
        if isinstance(result, Background):
            return Reply(text="", is_error=False, details={"background": result}, notices=result.notices)
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
        self._tool = Tool(PersonContract(), cwd=cwd, settings=settings, approver=approver, ui=True)

    @property
    def cwd(self) -> str:
        return self._tool.cwd

    def run(self, command: str, *, pty: bool = False) -> AsyncGenerator[Update | Reply, None]:
        """Run a command; yields its live tail, then the reply. Leaving early stops the command.

        Args:
            pty: it has a terminal, whose job the first update tells; what it asks is answered there.
        """
        return self._tool.stream({"command": command, "pty": True} if pty else {"command": command})

    async def aclose(self) -> None:
        await self._tool.aclose()
