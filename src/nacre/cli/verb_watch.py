"""`nacre watch`: shows what every nacre here runs, as lines in an ordinary terminal."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys

from nacre import config
from nacre.cli.interruption import Interruption
from nacre.cli.live_lines import LiveLines, plain_keys
from nacre.cli.watched_cards import CardFilter, finished_lines, running_lines, started_lines
from nacre.feed.card import Card
from nacre.feed.folding import DENSITIES, Density
from nacre.feed.follower import Follower
from nacre.feed.transcript import Transcript

EPILOG = """\
Finished calls scroll by as plain text; running ones show their newest output at the bottom. On a terminal the keys are
d (density: count, folded, all), q (quit) and ? (help). --plain redraws nothing, for screen readers and files; it is
the default where stdout is no terminal. ID is the id of a call or a job, as in `nacre log --json` and `nacre jobs`.

examples:
  nacre watch
  nacre watch --density all --cwd .
  nacre watch --plain --failed
  nacre watch bg_3
"""

# How often what runs is drawn again: its wall time changes.
DRAW_SECONDS = 0.1
HELP = "keys: d density (count, folded, all) · q quit · ? this help"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", metavar="ID", help="only this call or job; ends with it")
    parser.add_argument("--density", choices=DENSITIES, default="folded", help="how much is shown (default: folded)")
    parser.add_argument("--plain", action="store_true", help="print lines only, without redrawing any")
    parser.add_argument("--session", metavar="S", help="only calls whose session has this in its name")
    parser.add_argument("--cwd", metavar="D", help="only calls in this directory and below")
    parser.add_argument("--failed", action="store_true", help="only calls that failed, when they have ended")


def main(namespace: argparse.Namespace) -> int:
    interruption = Interruption()
    interruption.take_signals()
    try:
        return asyncio.run(interruption.guard(_watch(namespace)))
    except SystemExit:
        # Interrupting is how it ends.
        return 0


async def _watch(namespace: argparse.Namespace) -> int:
    wanted = CardFilter(
        name=namespace.id,
        session=namespace.session,
        directory=None if namespace.cwd is None else os.path.abspath(namespace.cwd),
        failed=namespace.failed,
    )
    live = sys.stdout.isatty() and not namespace.plain
    async with Follower(config.state_dir(os.environ)) as feed:
        if live:
            return await _Live(feed, wanted, namespace.density).run()
        return await _plain(feed, wanted, namespace.density)


async def _plain(feed: Follower, wanted: CardFilter, density: Density) -> int:
    transcript = Transcript()
    async for event in feed:
        card = transcript.feed(event)
        if not wanted.takes(card):
            continue
        if event["event"] in ("start", "waiting", "approval") and not wanted.failed:
            _print(started_lines(card))
        elif event["event"] == "end":
            _print(finished_lines(card, density, _columns()))
            if wanted.name is not None:
                return 0
    raise AssertionError("the feed has no end")


def _print(lines: list[str]) -> None:
    for line in lines:
        print(line)
    sys.stdout.flush()


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except OSError:
        return 80


class _Live:
    """The lines at the bottom of a terminal, and what scrolls by above them."""

    def __init__(self, feed: Follower, wanted: CardFilter, density: Density) -> None:
        self._feed = feed
        self._wanted = wanted
        self._density = density
        self._transcript = Transcript()
        self._lines = LiveLines(sys.stdout)
        self._note = ""
        self._over = asyncio.Event()

    async def run(self) -> int:
        with self._lines, plain_keys(sys.stdin, self._key):
            reading = asyncio.create_task(self._read())
            drawing = asyncio.create_task(self._draw())
            over = asyncio.create_task(self._over.wait())
            try:
                done, _ = await asyncio.wait([reading, drawing, over], return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
            finally:
                for task in (reading, drawing, over):
                    task.cancel()
                await asyncio.wait([reading, drawing, over])
        return 0

    async def _read(self) -> None:
        async for event in self._feed:
            card = self._transcript.feed(event)
            if event["event"] == "end" and self._wanted.takes(card):
                self._lines.scroll(finished_lines(card, self._density, _columns()))
                if self._wanted.name is not None:
                    self._over.set()

    async def _draw(self) -> None:
        while True:
            self._lines.show(self._bottom())
            await asyncio.sleep(DRAW_SECONDS)

    def _bottom(self) -> list[str]:
        columns = _columns()
        cards: list[Card] = [card for card in self._transcript.running if self._wanted.takes(card)]
        lines = [line for card in cards for line in running_lines(card, self._density, columns)]
        note = self._note or f"{len(cards)} running · {self._density} · ? help"
        return [*lines, note[: columns - 1]]

    def _key(self, key: str) -> None:
        if key == "q":
            self._over.set()
        elif key == "d":
            self._density = DENSITIES[(DENSITIES.index(self._density) + 1) % len(DENSITIES)]
            self._note = ""
        elif key == "?":
            self._note = "" if self._note else HELP
