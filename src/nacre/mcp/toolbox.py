"""The tools of one server: a shell per session of its clients, and companions that all sessions share.

A server describes its tools before it loads the engine, because clients wait for that when they start.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nacre import config, place
from nacre.contracts import schema_named
from nacre.contracts.tool_schema import context_of
from nacre.errors import InvalidRequestError, shown
from nacre.mcp.call_channel import CallChannel
from nacre.mcp.catalogue import WITH_COMPANIONS, describe, offered_by
from nacre.mcp.jsonrpc import INVALID_PARAMS, RpcError
from nacre.mcp.machine import ServerCall

if TYPE_CHECKING:
    from nacre.backend import Backend
    from nacre.tool import Tool

# Clients may leave without notice; the shell of a dropped session ends after its idle time.
MOST_SESSIONS = 1_000

SessionKey = str | None
"""None is a request that belongs to no session."""

NAMED = "named:"
# Of a call's `_meta`: the shell session to run in, where the client wants another than its connection's own.
SESSION_KEY = "nacre/session"
# The same as an argument, for the model and for wires without connections.
SESSION_ARGUMENT = "session"
MOST_NAME_CHARACTERS = 256


class Toolbox:
    """Makes a shell at the first call of its session, and keeps it until the session or the server ends."""

    def __init__(
        self, contract: str, *, tools: Collection[str] = (), structured: bool = False, backend: Backend | None = None
    ) -> None:
        """With `structured`, tools are offered with the schema of their answers, and results have that object.

        Raises:
            ConfigError: the settings are wrong.
        """
        self.structured = structured
        self.contract = contract
        self._others = tools
        self._backend = backend
        self._cwd = place.directory_at(None) or config.working_directory()
        self._settings = config.load(os.environ, cwd=self._cwd).settings
        self._most_wait = self._settings.jobs.mcp_window_seconds or None
        self._described: dict[bool, dict[str, dict[str, Any]]] = {}
        self._shell: Tool | None = None
        self._companions: dict[str, Tool] = {}
        self._shells: OrderedDict[str, Tool] = OrderedDict()

    def _tool(self, contract: str, **options: Any) -> Tool:
        from nacre.mcp.elicitation import approver
        from nacre.tool import Tool

        return Tool(
            contract,
            approver=approver,
            backend=self._backend,
            tools=self._others,
            most_wait=self._most_wait,
            **options,
        )

    @property
    def shell(self) -> Tool:
        """For calls without a session, each of which gets its own bash."""
        if self._shell is None:
            settings = self._settings
            fresh = replace(settings, sessions=settings.sessions._replace(persist=False))
            self._shell = self._tool(self.contract, settings=fresh)
        return self._shell

    def described(self, session: SessionKey) -> dict[str, dict[str, Any]]:
        """The tools as they are offered to a session, by name."""
        persists = session is not None
        if persists not in self._described:
            context = context_of(
                self._settings,
                self._cwd,
                persists=persists and self._backend is None,
                names_sessions=self.contract in WITH_COMPANIONS and self._backend is None,
                most_wait=self._most_wait,
            )
            tools = (
                describe(name, schema_named(name, context), structured=self.structured)
                for name in offered_by(self.contract)
            )
            self._described[persists] = {tool["name"]: tool for tool in tools}
        return self._described[persists]

    def listed(self, session: SessionKey) -> dict[str, Any]:
        """The result of `tools/list`."""
        return {"tools": list(self.described(session).values())}

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        described = self.described(None).get(name)
        return None if described is None else described["inputSchema"]

    def is_named_in(self, name: str, arguments: Mapping[str, Any]) -> bool:
        """Whether a call names its session among its arguments."""
        shape = self.described(None)[name]["inputSchema"]["properties"]
        return SESSION_ARGUMENT in arguments and SESSION_ARGUMENT in shape

    def find(self, name: str, session: SessionKey) -> Tool | None:
        """The tool of that name."""
        if name not in self.described(session):
            return None
        if name in offered_by(self.contract)[1:]:
            if name not in self._companions:
                self._companions[name] = self._tool(name)
            return self._companions[name]
        if session is None:
            return self.shell
        if session not in self._shells:
            # Named sessions are shared; the shell of a connection is private.
            name_given = session.removeprefix(NAMED) if session.startswith(NAMED) else None
            self._shells[session] = self._tool(self.contract, session=name_given)
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
        tools = [*self._shells.values(), *self._companions.values()]
        for tool in tools if self._shell is None else [*tools, self._shell]:
            await tool.aclose()
        self._shells.clear()


def session_of(call: ServerCall, channel: CallChannel) -> SessionKey:
    """The shell session that a call belongs to: named by the client, else that of its connection."""
    named = call.meta.get(SESSION_KEY)
    if named is None:
        return channel.session
    if not isinstance(named, str) or not named:
        raise RpcError(INVALID_PARAMS, f"_meta {SESSION_KEY} must be a name, a string that is not empty")
    return f"{NAMED}{named}"


def session_in(arguments: Mapping[str, Any], session: SessionKey) -> tuple[SessionKey, dict[str, Any]]:
    """The session that the arguments name, else `session`; and the arguments without it.

    Raises:
        InvalidRequestError: the name is none.
    """
    rest = dict(arguments)
    named = rest.pop(SESSION_ARGUMENT, None)
    if named is None:
        return session, rest
    if not isinstance(named, str) or not 0 < len(named) <= MOST_NAME_CHARACTERS:
        raise InvalidRequestError(
            f"field 'session' must be a name of at most {MOST_NAME_CHARACTERS} characters, got {shown(named)}",
            field=SESSION_ARGUMENT,
        )
    return f"{NAMED}{named}", rest
