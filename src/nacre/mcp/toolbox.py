"""The tools of one server: a shell per session of its clients, and companions that all sessions share."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from nacre.guard.approval import Approver
from nacre.mcp.catalogue import describe, offered_by
from nacre.tool import Tool

# Clients may leave without notice; the shell of a dropped session ends after its idle time.
MOST_SESSIONS = 1_000

SessionKey = str | None
"""None is a request that belongs to no session."""

NAMED = "named:"


class Toolbox:
    """Makes a shell at the first call of its session, and keeps it until the session or the server ends."""

    def __init__(
        self,
        contract: str,
        *,
        tools: Collection[str] = (),
        approver: Approver | None = None,
        structured: bool = False,
    ) -> None:
        """With `structured`, tools are offered with the schema of their answers, and results have that object."""
        self.structured = structured
        self._contract = contract
        self._others = tools
        self._approver = approver
        # For calls without a session, each of which gets its own bash.
        settings = self._tool(contract).engine.settings
        self.shell = self._tool(
            contract, settings=replace(settings, sessions=replace(settings.sessions, persist=False))
        )
        self._companions = {tool.schema()["name"]: tool for tool in map(self._tool, offered_by(contract)[1:])}
        self._shells: OrderedDict[str, Tool] = OrderedDict()
        keeping = self._tool(contract)
        self._described = {
            persists: {
                one["name"]: one
                for one in (
                    describe(tool.contract, tool.schema(), structured=structured)
                    for tool in (shell, *self._companions.values())
                )
            }
            for persists, shell in ((False, self.shell), (True, keeping))
        }

    def _tool(self, contract: str, **options: Any) -> Tool:
        return Tool(contract, approver=self._approver, tools=self._others, **options)

    def described(self, session: SessionKey) -> dict[str, dict[str, Any]]:
        """The tools as they are offered to a session, by name."""
        return self._described[session is not None]

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        described = self.described(None).get(name)
        return None if described is None else described["inputSchema"]

    def find(self, name: str, session: SessionKey) -> Tool | None:
        """The tool of that name."""
        if name not in self.described(session):
            return None
        if name in self._companions:
            return self._companions[name]
        if session is None:
            return self.shell
        if session not in self._shells:
            # Named sessions are shared; the shell of a connection is private.
            name_given = session.removeprefix(NAMED) if session.startswith(NAMED) else None
            self._shells[session] = self._tool(self._contract, session=name_given)
            if len(self._shells) > MOST_SESSIONS:
                self._shells.popitem(last=False)
        self._shells.move_to_end(session)
        return self._shells[session]

    async def end(self, session: str) -> None:
        """Release the resources of a session."""
        tool = self._shells.pop(session, None)
        if tool is not None:
            await tool.aclose()

    async def aclose(self) -> None:
        for tool in (*self._shells.values(), *self._companions.values(), self.shell):
            await tool.aclose()
        self._shells.clear()
