"""The tools of one server: one set for each session of its clients."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from nacre.mcp.catalogue import describe, offered_by
from nacre.policy.approval import Approver
from nacre.tool import Tool


class Toolbox:
    """Makes a tool when it is first called, and keeps it until its session or the server ends."""

    def __init__(self, contract: str, *, tools: Collection[str] = (), approver: Approver | None = None) -> None:
        self.contract = contract
        self._others = tools
        self._approver = approver
        # The first is the shell; a companion keeps nothing of its own, and serves every session.
        shell, *companions = offered_by(contract)
        self.shell = self._tool(shell)
        described = [describe(shell, self.shell.schema())]
        self._companions: dict[str, Tool] = {}
        for name in companions:
            tool = self._tool(name)
            described.append(describe(name, tool.schema()))
            self._companions[described[-1]["name"]] = tool
        self.described: dict[str, dict[str, Any]] = {one["name"]: one for one in described}
        self._shells: dict[str, Tool] = {}

    def _tool(self, contract: str, **options: Any) -> Tool:
        return Tool(contract, approver=self._approver, tools=self._others, **options)

    def find(self, name: str, session: str | None) -> Tool | None:
        """The tool of that name, for a session; without one, a shell that keeps nothing."""
        if name not in self.described:
            return None
        if name in self._companions:
            return self._companions[name]
        if session is None:
            return self.shell
        if session not in self._shells:
            self._shells[session] = self._tool(self.contract, session=session)
        return self._shells[session]

    async def end(self, session: str) -> None:
        """Give back what a session holds."""
        tool = self._shells.pop(session, None)
        if tool is not None:
            await tool.aclose()

    async def aclose(self) -> None:
        for tool in (*self._shells.values(), *self._companions.values(), self.shell):
            await tool.aclose()
        self._shells.clear()
