"""Opens the console of a call or a job in front of the app, and does what the person decides there."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.app import App

from nacre.errors import NacreError
from nacre.feed.card import Card
from nacre.feed.card_texts import state_text
from nacre.jobs import job_terminal
from nacre.jobs.job import Job
from nacre.jobs.table import JobTable
from nacre.tui.agent_calls import AgentCalls
from nacre.tui.console import Escape
from nacre.tui.console_overlay import ConsoleOverlay
from nacre.tui.job_words import job_state

if TYPE_CHECKING:
    from nacre.jobs.terminal_view import TerminalView


class Consoles:
    """The consoles of agents' calls and of jobs, one at a time."""

    def __init__(self, app: App[Any], jobs: JobTable, calls: AgentCalls, escape: Escape) -> None:
        self._app = app
        self._jobs = jobs
        self._calls = calls
        self._escape: Escape = escape

    def open_call(self, card: Card) -> None:
        """Open the console of a call that runs on a terminal."""
        if card.job_id is not None and card.running and card.pty:
            self._open(card.job_id, card.command, card)
        else:
            self._app.notify("only a call that runs on a terminal has a console", severity="warning")

    def open_job(self, job: Job) -> None:
        """Open the console of a job that runs on a terminal."""
        if job_terminal.has_terminal(job) and job.running:
            self._open(job.id, str(job.record.get("command", "")), self._calls.transcript.get(job.id))
        else:
            self._app.notify("only a job that runs on a terminal has a console", severity="warning")

    def _open(self, job_id: str, command: str, card: Card | None) -> None:
        # The first screen does without it.
        from nacre.jobs.terminal_view import TerminalView

        try:
            view = TerminalView(self._jobs.get(job_id), table=self._jobs)
        except NacreError as error:
            self._app.notify(str(error), severity="error")
            return
        overlay = ConsoleOverlay(
            view,
            command=command,
            kill=partial(self._kill, job_id, card),
            state=partial(self._state, job_id, card),
            escape=self._escape,
        )
        self._app.push_screen(overlay, partial(self._closed, view, card))

    def _kill(self, job_id: str, card: Card | None) -> None:
        if card is not None and card.attended and self._calls.stop(card):
            return
        # It ended in the same moment, or its record is gone: then it is over.
        with contextlib.suppress(NacreError):
            self._jobs.stop(job_id)

    def _state(self, job_id: str, card: Card | None) -> str:
        if card is not None and not card.running:
            return state_text(card)
        try:
            job = self._jobs.get(job_id)
        except NacreError:
            # A call that ended in the foreground leaves no job; its end is on the way.
            return "finished"
        return job_state(job)

    def _closed(self, view: TerminalView, card: Card | None, how: str | None) -> None:
        if how != "detached":
            return
        if card is not None and card.attended:
            self._calls.keep(card)
        self._app.notify(f"{view.job.id} goes on as a job; t opens its console again")
