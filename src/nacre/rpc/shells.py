"""The shells of one connection: its own, those that its client names, and a fresh one for a command that wants that."""

from __future__ import annotations

import functools
from collections.abc import Collection
from dataclasses import replace
from typing import Any, Literal

from nacre.errors import InvalidRequestError, shown
from nacre.tool import Tool

MAX_NAME_CHARACTERS = 256
# Tools are cheap to make again; the state of a session is not theirs.
MOST_TOOLS = 64

By = Literal["model", "person"]


class Shells:
    def __init__(self, tools: Collection[str]) -> None:
        self._tools = tools
        self.own = Tool("workspace", tools=tools)
        """The connection's own shell as a model uses it. It has no name, which other connections could have too."""
        # A person's command is not pointed to a model's tools, so it is given none.
        self._own_by: dict[By, Tool] = {"model": self.own, "person": self.own.sharing()}
        # Reads the settings: what is wrong with them is said at once, not in each answer.
        settings = self.own.engine.settings
        self._fresh_settings = replace(settings, sessions=replace(settings.sessions, persist=False))
        self._named = functools.lru_cache(maxsize=MOST_TOOLS)(self._make)

    def _make(self, by: By, session: str | None) -> Tool:
        tools = self._tools if by == "model" else ()
        if session is None:
            return Tool("workspace", tools=tools, settings=self._fresh_settings)
        return Tool("workspace", tools=tools, session=session)

    def take(self, fields: dict[str, Any]) -> tuple[Tool, bool]:
        """The shell that a request means, and whether others may use it; what says so is taken out of the fields.

        Raises:
            InvalidRequestError: it cannot be meant so.
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
