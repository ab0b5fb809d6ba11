"""The line where a person types: history with the arrow keys, completion with Tab, the newest match as a suggestion."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input

from nacre.tui.completion import common, completions
from nacre.tui.line_history import LineHistory

# Candidates that are listed when a word has several.
MOST_LISTED = 12


class _FromHistory(Suggester):
    def __init__(self, history: LineHistory) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._history = history

    async def get_suggestion(self, value: str) -> str | None:
        return self._history.beginning_with(value) if value else None


class CommandInput(Input):
    """An input with the history and the completion of a shell."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "earlier", "Earlier line", show=False),
        Binding("down", "later", "Later line", show=False),
        Binding("tab", "complete", "Complete", show=False),
        Binding("escape", "leave", "Transcript", show=False),
    ]

    class Left(Message):
        """The person leaves the line for the transcript."""

    class Candidates(Message):
        """A word has several completions."""

        def __init__(self, found: list[str]) -> None:
            super().__init__()
            self.found = found

    def __init__(self, history: LineHistory, *, cwd: Callable[[], str], id: str | None = None) -> None:
        super().__init__(
            placeholder="!cmd · !!cmd · cd DIR · /text   F1 help",
            suggester=_FromHistory(history),
            id=id,
            compact=True,
            # What stands there is a beginning: the next key goes on with it.
            select_on_focus=False,
        )
        self._history = history
        self._cwd = cwd

    def _show(self, line: str | None) -> None:
        if line is not None:
            self.value = line
            self.cursor_position = len(line)

    def action_earlier(self) -> None:
        self._show(self._history.earlier(self.value))

    def action_later(self) -> None:
        self._show(self._history.later())

    def action_leave(self) -> None:
        self.post_message(self.Left())

    def action_complete(self) -> None:
        if self.value.strip():
            self._complete(self.value)
        else:
            self.post_message(self.Left())

    @work(exclusive=True, group="completion")
    async def _complete(self, line: str) -> None:
        # A directory may not answer; the console must.
        found = await asyncio.to_thread(completions, line, self._cwd(), os.environ.get("PATH", ""))
        if self.value != line or not found:
            return
        self._show(common(found) or line)
        if len(found) > 1:
            self.post_message(self.Candidates([one[len(line.rpartition(" ")[0]) :].strip() for one in found]))
