"""Terminals that browsers have open: one screen for each job, kept up by one task, and sent row by row.

However much a program writes, a browser gets the present rows, at most FRAMES times a second and never more than it
reads. After a key the screen is looked at more often for a moment, because a person waits for the answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any, cast, get_args

from nacre.errors import InvalidRequestError, JobError, NacreError
from nacre.feed.card import Card
from nacre.jobs.status import outcome_of
from nacre.jobs.table import JobTable
from nacre.jobs.terminal_view import TerminalView
from nacre.screen import Span
from nacre.screen.keys import MouseAction
from nacre.web.board import Board

FRAMES, ANSWER_FRAMES = 30, 100
# How long after a key its answer is waited for.
ANSWER_SECONDS = 0.3
# As small as a program on a terminal can be expected to work with.
LEAST_COLUMNS, LEAST_ROWS = 20, 5
MOST_COLUMNS, MOST_ROWS = 400, 200
MOST_TERMINALS = 16
MOUSE_ACTIONS: tuple[str, ...] = get_args(MouseAction)
MOST_BUTTONS = 3
STATE = -1
"""The topic of everything but the rows."""
WANTED = (
    'input must be a list of {"text"}, {"key"}, {"paste"}, {"size": [columns, rows]} or '
    '{"mouse": [action, button, column, row], "modifiers"}'
)
# The bits of a style, in this order.
_FLAGS = ("bold", "italic", "underline", "inverse", "faint", "strike")


class SharedTerminal:
    """The screen of one job, for all browsers."""

    def __init__(self, view: TerminalView, ended: Callable[[], str]) -> None:
        """Take a view.

        Args:
            ended: tells how the program has ended, once it has.
        """
        self.view = view
        self.board: Board[int] = Board()
        self.state: dict[str, Any] = {}
        self.viewers = 0
        self._ended = ended
        self._task: asyncio.Task[None] | None = None
        self._typed_at = 0.0
        self._hurry = asyncio.Event()
        self._typing = asyncio.Lock()

    def start(self) -> None:
        self._update()
        self._task = asyncio.create_task(self._keep_up())

    def close(self) -> None:
        # Without a wait, which a cancellation could cut short: the task is never in the middle of an update here.
        if self._task is not None:
            self._task.cancel()
        self.view.close()

    async def _keep_up(self) -> None:
        while self.state["ended"] is None:
            began = time.thread_time()
            self._update()
            frames = ANSWER_FRAMES if time.monotonic() < self._typed_at + ANSWER_SECONDS else FRAMES
            # A slow emulator must leave time for requests. Its own time counts, and not that of other programs.
            pause = max(1 / frames, 2 * (time.thread_time() - began))
            self._hurry.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), pause)

    def _update(self) -> None:
        screen, ended = self.view.screen, None
        try:
            self.view.update()
            if self.view.ended:
                # What was written between the last read and the end.
                while self.view.update():
                    pass
                ended = self._ended()
        except NacreError as error:
            ended = str(error)
        for row in sorted(screen.take_dirty()):
            self.board.touch(row)
        waiting, cursor, modes = self.view.waiting, screen.cursor, screen.modes
        state = {
            "columns": screen.columns,
            "rows": screen.rows,
            "cursor": [cursor.column, cursor.row] if cursor.visible else None,
            "title": screen.title,
            "fullScreen": modes.alternate,
            "mouse": modes.mouse,
            "waiting": None if waiting is None else {"text": waiting.prompt.strip(), "hidden": waiting.hidden},
            "ended": ended,
        }
        if state != self.state:
            self.state = state
            self.board.touch(STATE)

    def news(self, revision: int) -> dict[str, Any]:
        """Return the rows that changed after a revision, and the state if it did."""
        found: dict[str, Any] = {}
        changed = [topic for _, topic in self.board.since(revision)]
        rows = {row: row_json(self.view.screen.row(row)) for row in changed if 0 <= row < self.view.screen.rows}
        if rows:
            found["rows"] = rows
        if STATE in changed:
            found["state"] = self.state
        return found

    async def take(self, items: list[Any]) -> None:
        """Do what a person did at the terminal, in this order.

        Raises:
            InvalidRequestError: an item is none that a terminal takes.
            JobError: the program has ended, or does not read.
        """
        async with self._typing:
            # In a thread: a runner that is stopped does not answer.
            await asyncio.to_thread(self._type, items)
        self._typed_at = time.monotonic()
        self._hurry.set()

    def _type(self, items: list[Any]) -> None:
        for item in items:
            match item:
                case {"text": str(text)}:
                    self.view.write(text.encode("utf-8", "replace"))
                case {"key": str(key)}:
                    self.view.press(key)
                case {"paste": str(text)}:
                    self.view.paste(text)
                case {"size": [int(columns), int(rows)]}:
                    self.view.resize(
                        min(MOST_COLUMNS, max(LEAST_COLUMNS, columns)), min(MOST_ROWS, max(LEAST_ROWS, rows))
                    )
                case {"mouse": [str(action), int(button), int(column), int(row)], "modifiers": [*modifiers]} if (
                    action in MOUSE_ACTIONS and 0 <= button <= MOST_BUTTONS and min(column, row) >= 0
                ):
                    held = frozenset(map(str, modifiers))
                    self.view.mouse(cast("MouseAction", action), button, column, row, modifiers=held)
                case _:
                    # Without the value: it may be half a password.
                    raise InvalidRequestError(WANTED, field="input")


class Terminals:
    """The terminals that are open in a browser."""

    def __init__(self, table: JobTable, card_of: Callable[[str], Card | None]) -> None:
        self._table = table
        self._card_of = card_of
        self._open: dict[str, SharedTerminal] = {}

    def get(self, job_id: str) -> SharedTerminal:
        """Return an open terminal; raises JobError."""
        found = self._open.get(job_id)
        if found is None:
            raise JobError(f"the terminal of {job_id} is not open in a browser")
        return found

    @contextlib.contextmanager
    def viewing(self, job_id: str) -> Iterator[SharedTerminal]:
        """Have a terminal open for one browser; raises NacreError."""
        found = self._open.get(job_id)
        if found is None:
            if len(self._open) >= MOST_TERMINALS:
                raise JobError(f"{MOST_TERMINALS} terminals are open already; close one")
            view = TerminalView(self._table.get(job_id), table=self._table)
            found = self._open[job_id] = SharedTerminal(view, lambda: self._end(job_id))
            found.start()
        found.viewers += 1
        try:
            yield found
        finally:
            found.viewers -= 1
            if not found.viewers:
                self._open.pop(job_id, None)
                found.close()

    def _end(self, job_id: str) -> str:
        """How the program has ended."""
        try:
            job = self._table.get(job_id)
        except JobError:
            # The job of a call in the foreground is removed with the call, whose card tells the end.
            card = self._card_of(job_id)
            return "ended" if card is None or card.exit_code is None else f"exit code {card.exit_code}"
        return outcome_of(job)


def row_json(spans: tuple[Span, ...]) -> list[list[Any]]:
    """Return a row as lists: the text, then colours and bits of the style where there are any."""
    found: list[list[Any]] = []
    for span in spans:
        style = span.style
        bits = sum(1 << at for at, name in enumerate(_FLAGS) if getattr(style, name))
        plain = style.fg is None and style.bg is None and not bits
        found.append([span.text] if plain else [span.text, style.fg, style.bg, bits])
    return found
