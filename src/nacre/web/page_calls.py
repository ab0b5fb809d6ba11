"""The agents' calls for the page: follows the feed, keeps the cards, and does what a person asks."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from typing import Any

from nacre.errors import JobError, NacreError
from nacre.feed.card import Card
from nacre.feed.follower import Decision, Follower
from nacre.feed.transcript import Transcript
from nacre.jobs.job_terminal import state
from nacre.jobs.table import JobTable
from nacre.web.board import Board
from nacre.web.page_cards import shortened_tail
from nacre.web.page_jobs import TOPIC

# Ended calls that the page shows; the log has the rest.
MOST_CARDS = 300
# Events that are taken before requests have their turn.
BATCH = 20


class PageCalls:
    """The calls of a state directory, each a topic of the board."""

    def __init__(self, follower: Follower, board: Board[str], table: JobTable, past: Iterable[Card] = ()) -> None:
        """Take calls.

        Args:
            past: calls that have ended before the feed was followed, the oldest first.
        """
        self._follower = follower
        self._board = board
        self._table = table
        self._transcript = Transcript(MOST_CARDS)
        self._forget_at = MOST_CARDS
        """How many cards are forgotten when the board is cleared of their topics."""
        self._screens: dict[str, None] = {}
        """Calls that have shown a full screen, whose output has no lines; the newest last."""
        self._past = {card.call: card for card in past}
        for call in self._past:
            board.touch(call)

    async def follow(self) -> None:
        """Take what happens, until cancelled."""
        taken = 0
        async for event in self._follower:
            self.take(event)
            taken += 1
            if taken % BATCH == 0:
                await asyncio.sleep(0)

    def take(self, event: dict[str, Any]) -> None:
        card = self._transcript.feed(event)
        # It has ended while the log was read: the feed knows more of it.
        self._past.pop(card.call, None)
        if not card.running:
            card.tail = shortened_tail(card.tail)
        elif card.pty and card.job_id is not None and card.call not in self._screens:
            self._look_at_screen(card.call, card.job_id)
        self._board.touch(card.call)
        if self._transcript.forgotten >= self._forget_at:
            self._forget_at = self._transcript.forgotten + MOST_CARDS
            self._board.keep_only(lambda topic: topic == TOPIC or self.get(topic) is not None)

    def _look_at_screen(self, call: str, job_id: str) -> None:
        # A job that is gone, or whose files do not answer now, is shown as lines.
        with contextlib.suppress(NacreError):
            found = state(self._table.get(job_id))
            if found is not None and found.full_screen:
                self._screens[call] = None
                if len(self._screens) > 2 * MOST_CARDS:
                    del self._screens[next(iter(self._screens))]

    def has_screen(self, call: str) -> bool:
        """True if the call has shown a full screen."""
        return call in self._screens

    def is_past(self, call: str) -> bool:
        """True if all that is known of the call is what the log has."""
        return call in self._past

    def get(self, name: str) -> Card | None:
        """Return a card by the id of its call; by that of its job too, if the feed has told of it."""
        return self._transcript.get(name) or self._past.get(name)

    # What a person does; each returns False where the call cannot be reached.

    def stop(self, name: str) -> bool:
        """Stop a call or a job; what it has written stays."""
        card = self.get(name)
        with contextlib.suppress(JobError):
            return self._follower.stop(name if card is None else card.call)
        return False

    def decide(self, call: str, question: str, decision: Decision) -> bool:
        """Answer an approval; the first answer of any viewer counts."""
        card = self.get(call)
        if card is None or card.question is None or card.question.id != question:
            return False
        return self._follower.answer(card.call, question, decision)

    def answer(self, call: str, text: str) -> bool:
        """Type a line at the prompt of a call. It is kept nowhere here."""
        card = self.get(call)
        if card is None or card.prompt is None:
            return False
        if card.job_id is None:
            return self._follower.write(card.call, f"{text}\r")
        with contextlib.suppress(JobError):
            self._follower.write_job(card.job_id, f"{text}\r".encode("utf-8", "surrogateescape"))
            return True
        return False
