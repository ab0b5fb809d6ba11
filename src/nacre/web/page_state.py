"""Everything the page shows, and the events that tell a browser what has changed."""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import AsyncGenerator

from nacre import config
from nacre.engine.engine import Engine
from nacre.errors import NacreError
from nacre.feed.follower import Follower
from nacre.web.activity import Activity
from nacre.web.board import Board
from nacre.web.event_stream import PING, PING_SECONDS, frame, number_of, opening
from nacre.web.page_calls import PageCalls
from nacre.web.page_cards import card_json
from nacre.web.page_jobs import TOPIC, PageJobs
from nacre.web.past_calls import past_calls
from nacre.web.person_presence import PersonPresence
from nacre.web.shared_terminal import Terminals

# A browser is told of changes at most so often; what comes in between is told once.
FRAME_SECONDS = 0.05
# Browser windows at a time; more than that is no person.
MOST_VIEWERS = 32


class PageState:
    """The state of one page server."""

    def __init__(self, engine: Engine, follower: Follower) -> None:
        self.epoch = secrets.token_hex(4)
        """Tells the numbers of this server's events from those of an earlier one."""
        self.artifacts = engine.artifacts
        self._board: Board[str] = Board()
        self._here = config.working_directory()
        past = past_calls(engine.state_dir, engine.redactor)
        self.calls = PageCalls(follower, self._board, engine.jobs, past)
        self.jobs = PageJobs(engine.jobs, self._board)
        self.terminals = Terminals(engine.jobs, self.calls.get)
        self._person = PersonPresence(engine.state_dir)
        self.activity = Activity(engine.state_dir, most_shown_bytes=engine.settings.output.inline_bytes)

    async def follow(self) -> None:
        """Keep up with the feed and the jobs, until cancelled."""
        await until_one_ends(asyncio.create_task(self.calls.follow()), asyncio.create_task(self.jobs.follow()))

    async def events(self, revision: int, *, columns: int) -> AsyncGenerator[bytes]:
        """Yield the present state of all that changed after a revision, and of what changes from then on."""
        if self.jobs.viewers >= MOST_VIEWERS:
            yield frame("refused", {"error": f"{MOST_VIEWERS} windows show this page already; close one"})
            return
        try:
            self._person.begin()
        except NacreError as error:
            yield frame("refused", {"error": str(error)})
            return
        self.jobs.viewers += 1
        try:
            self.jobs.look()
            hello = {"time": time.time(), "fresh": revision == 0, "home": os.path.expanduser("~"), "here": self._here}
            yield opening() + frame("hello", hello)
            settled = False
            while True:
                for number, topic in self._board.since(revision):
                    yield self._frame(topic, number_of(self.epoch, number), columns)
                    revision = number
                if not settled:
                    # What the browser still holds of an earlier connection and was not told again is gone.
                    settled = True
                    yield frame("settled", {})
                await asyncio.sleep(FRAME_SECONDS)
                while not await self._board.wait(revision, PING_SECONDS):
                    yield PING
        finally:
            self.jobs.viewers -= 1
            self._person.end()

    def _frame(self, topic: str, number: str, columns: int) -> bytes:
        if topic == TOPIC:
            return frame("jobs", self.jobs.shown, number=number)
        card = self.calls.get(topic)
        if card is None:
            self._board.forget(topic)
            return frame("gone", {"call": topic}, number=number)
        past, screen = self.calls.is_past(topic), self.calls.has_screen(topic)
        shown = card_json(card, columns=columns, here=self._here, screen=screen, past=past)
        return frame("card", shown, number=number)

    async def terminal_events(self, job_id: str) -> AsyncGenerator[bytes]:
        """Yield the changed rows of a job's terminal until its program ends.

        Raises:
            NacreError: the job has no terminal.
        """
        with self.terminals.viewing(job_id) as terminal:
            yield opening()
            # A browser that comes again gets the whole screen: the numbers are those of this screen only.
            revision = 0
            while True:
                if await terminal.board.wait(revision, PING_SECONDS):
                    revision, news = terminal.board.revision, terminal.news(revision)
                    yield frame("screen", news)
                    if terminal.state["ended"] is not None:
                        return
                else:
                    yield PING


async def until_one_ends(*tasks: asyncio.Task[None]) -> None:
    """Wait until one of the tasks ends, raise its error if it has one, and cancel the others."""
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
