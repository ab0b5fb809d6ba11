"""`nacre watch` on a terminal: what runs is drawn at the bottom, what has ended scrolls by, and keys do the rest."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections import deque
from typing import TextIO

from nacre import config
from nacre.cli.live_lines import LiveLines, plain_keys
from nacre.cli.watched_approval import WatchedApproval
from nacre.cli.watched_cards import CardFilter, finished_lines, running_lines
from nacre.errors import InvalidRequestError, JobError, NacreError
from nacre.feed.card import Card
from nacre.feed.folding import DENSITIES, Density
from nacre.feed.follower import Follower
from nacre.feed.transcript import Transcript
from nacre.jobs.table import JobTable

# How often what runs is drawn again: its wall time changes.
DRAW_SECONDS = 0.1
HELP = "a answer · d density · t take over, Ctrl-] gives back · x stop (with ID) · q quit"
# How long the programs here may take to tell of the call that is asked for.
KNOWN_SECONDS = 1.5
# What scrolls by while a terminal is taken over is printed afterwards.
MOST_HELD_LINES = 2_000
NOTHING_ASKED = "no command here asks for anything"
NO_TERMINAL = "no command here has a terminal; one that is started with pty: true does"


def columns_of(out: TextIO) -> int:
    try:
        return os.get_terminal_size(out.fileno()).columns or 80
    except OSError:
        return 80


def unknown(wanted: CardFilter) -> InvalidRequestError:
    """Why nothing is shown of an id."""
    return InvalidRequestError(
        f"{wanted.name} does not run here: `nacre log show {wanted.name}` shows a call that has ended, `nacre watch` "
        "all that run",
        field="ID",
    )


class LiveWatch:
    """The lines at the bottom of a terminal, and what scrolls by above them."""

    def __init__(self, feed: Follower, wanted: CardFilter, density: Density) -> None:
        self._feed = feed
        self._wanted = wanted
        self._density = density
        self._transcript = Transcript()
        self._lines = LiveLines(sys.stdout)
        self._held: deque[str] = deque(maxlen=MOST_HELD_LINES)
        self._approval = WatchedApproval(feed)
        self._note = ""
        self._known = wanted.name is None
        self._over = False
        self._away = False
        """Whether a terminal is taken over, so that nothing is drawn."""
        self._pressed = asyncio.Event()
        self._asks_to_stop = False

    async def run(self) -> int:
        """Watch until the person leaves, or what is watched has ended."""
        reading = asyncio.create_task(self._read())
        reading.add_done_callback(lambda _: self._pressed.set())
        try:
            # The end of what was watched may have been told while its terminal was taken over.
            while not self._over or self._held:
                self._away = False
                with self._lines, plain_keys(sys.stdin, self._key):
                    self._lines.scroll(list(self._held))
                    self._held.clear()
                    await self._draw(reading)
                if self._away:
                    await self._take_over()
        finally:
            reading.cancel()
            await asyncio.wait([reading])
        return 0

    async def _read(self) -> None:
        async for event in self._feed:
            card = self._transcript.feed(event)
            if not self._wanted.takes(card):
                continue
            self._known = True
            if event["event"] != "end":
                continue
            lines = finished_lines(card, self._density, columns_of(sys.stdout))
            if self._away:
                self._held += lines
            else:
                self._lines.scroll(lines)
            if self._wanted.name is not None:
                self._over = True
                self._pressed.set()

    async def _draw(self, reading: asyncio.Task[None]) -> None:
        """Draw until a key asks for something else."""
        began = time.monotonic()
        while not (self._over or self._away):
            if reading.done():
                reading.result()
            if not self._known and time.monotonic() - began > KNOWN_SECONDS:
                raise unknown(self._wanted)
            self._lines.show(self._bottom())
            self._pressed.clear()
            try:
                async with asyncio.timeout(DRAW_SECONDS):
                    await self._pressed.wait()
            except TimeoutError:
                continue

    def _cards(self) -> list[Card]:
        return [card for card in self._transcript.running if self._wanted.takes(card)]

    def _bottom(self) -> list[str]:
        columns = columns_of(sys.stdout)
        cards = self._cards()
        lines = [line for card in cards for line in running_lines(card, self._density, columns)]
        note = self._approval.line or self._note or f"{len(cards)} running · {self._density} · {_offer(cards)}? help"
        return [*lines, note[: columns - 1]]

    def _key(self, key: str) -> None:
        self._asks_to_stop = self._asks_to_stop and key == "x"
        answered = self._approval.takes(key)
        if answered is not None:
            self._lines.scroll([f"  {answered}"])
            self._note = ""
        elif key == "a":
            self._answer()
        elif key == "q":
            self._over = True
        elif key == "d":
            self._density = DENSITIES[(DENSITIES.index(self._density) + 1) % len(DENSITIES)]
            self._note = ""
        elif key == "t":
            self._away = self._terminal() is not None
            self._note = "" if self._away else NO_TERMINAL
        elif key == "x" and self._wanted.name is not None:
            self._stop()
        elif key == "?":
            self._note = "" if self._note else HELP
        self._pressed.set()

    def _answer(self) -> None:
        """Open the oldest question, else the terminal of a command that waits for input."""
        asked = self._approval.open(self._cards())
        if asked:
            self._lines.scroll(asked)
            self._note = ""
            return
        card = self._terminal()
        self._away = card is not None and card.prompt is not None
        self._note = "" if self._away else NOTHING_ASKED

    def _stop(self) -> None:
        """Stop what is watched, when the key was pressed twice."""
        if not self._asks_to_stop:
            self._asks_to_stop, self._note = True, f"x again stops {self._wanted.name} and everything it started"
            return
        self._asks_to_stop, self._note = False, ""
        for card in self._cards():
            try:
                self._feed.stop(card.call)
            except JobError as error:
                self._note = f"{error}"

    # Taking over.

    def _terminal(self) -> Card | None:
        """The call whose terminal a person would take over: one that waits for input, else the newest."""
        cards = [card for card in self._cards() if card.pty and card.job_id is not None]
        waiting = [card for card in cards if card.prompt is not None]
        found = waiting or cards
        return found[-1] if found else None

    async def _take_over(self) -> None:
        card = self._terminal()
        if card is None or card.job_id is None:
            return  # it has ended in this moment
        # Loaded only for this.
        from nacre.cli.take_over import TakeOver

        try:
            await TakeOver(JobTable(config.state_dir(os.environ)).get(card.job_id)).run()
        except NacreError as error:
            self._note = f"{error}"


def _offer(cards: list[Card]) -> str:
    """What can be done about what runs."""
    if any(card.question is not None for card in cards):
        return "a answers · "
    if any(card.pty and card.prompt is not None for card in cards):
        return "t answers · "
    return "t takes over · " if any(card.pty and card.job_id is not None for card in cards) else ""
