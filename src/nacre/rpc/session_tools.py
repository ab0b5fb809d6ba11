"""The tools of one connection: its own shell, the sessions that its client names, and fresh shells."""

from __future__ import annotations

import functools
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from nacre.errors import InvalidRequestError, shown
from nacre.request import By
from nacre.tool import Tool

MAX_NAME_CHARACTERS = 256
# A tool is cheap to make again, and does not hold the state of its session.
MOST_TOOLS = 64


class SessionTools:
    """Finds the tool that a request means."""

    def __init__(self, tools: Collection[str]) -> None:
        self._tools = tools
        self.own = Tool("workspace", tools=tools)
        """The connection's own shell, for a model. It has no name, because names are shared between connections."""
        # The interceptor does not apply to a person's command, so that tool gets no names of tools.
        self._own_by: dict[By, Tool] = {"model": self.own, "person": self.own.sharing(by="person")}
        # This reads the settings, so that an error in them shows at once, not in each answer.
        settings = self.own.engine.settings
        self._fresh_settings = replace(settings, sessions=settings.sessions._replace(persist=False))
        self._named = functools.lru_cache(maxsize=MOST_TOOLS)(self._make)

    def _make(self, by: By, session: str | None) -> Tool:
        tools = self._tools if by == "model" else ()
        if session is None:
            return Tool("workspace", tools=tools, settings=self._fresh_settings, by=by)
        return Tool("workspace", tools=tools, session=session, by=by)

    def take(self, fields: dict[str, Any]) -> tuple[Tool, bool]:
        """Return the tool that a request means, and whether its shell is shared; removes `by` and `session`.

        Raises:
            InvalidRequestError: one of the two fields is wrong.
        """
        by = fields.pop("by", None)
        session = fields.pop("session", None)
        if by not in ("model", "person", None):
            raise InvalidRequestError(f"field 'by' must be 'model' or 'person', got {shown(by)}", field="by")
        if session is None:
            return self._own_by[by or "model"], True
        name = None if session is False else session
        if not (name is None or (isinstance(name, str) and 0 < len(name) <= MAX_NAME_CHARACTERS)):
            raise InvalidRequestError(
                f"field 'session' must be a name of at most {MAX_NAME_CHARACTERS} characters, or false for a shell of "
                f"its own, got {shown(session)}",
                field="session",
            )
        return self._named(by or "model", name), name is not None
