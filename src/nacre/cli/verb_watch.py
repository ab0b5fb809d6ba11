"""`nacre watch`: shows what every nacre here runs, as lines in an ordinary terminal."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys

from nacre import config
from nacre.cli.interruption import Interruption
from nacre.cli.live_watch import KNOWN_SECONDS, LiveWatch, columns_of, unknown
from nacre.cli.watched_cards import CardFilter, finished_lines, started_lines
from nacre.feed.folding import DENSITIES, Density
from nacre.feed.follower import Follower
from nacre.feed.transcript import Transcript
from nacre.screen.virtual_screen import has_emulator

EPILOG = """\
Finished calls scroll by as plain text; running ones show their newest output at the bottom. On a terminal the keys are
d (density: count, folded, all), a (answer the oldest question: an approval once, for this session, always as a rule,
or no; else the prompt of a command), t (take over the terminal of a command: every key goes to it until Ctrl-] gives it
back), x (with ID: stop it), q (quit) and ? (help). --plain redraws nothing, for screen readers and files; it is the
default where stdout is no terminal. ID is the id of a call or a job, as in `nacre log --json` and `nacre jobs`.

examples:
  nacre watch
  nacre watch --density all --cwd .
  nacre watch --plain --failed
  nacre watch bg_3
"""


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
    async with Follower(config.state_dir(os.environ), person=live and has_emulator()) as feed:
        if live:
            return await LiveWatch(feed, wanted, namespace.density).run()
        return await _plain(feed, wanted, namespace.density)


async def _plain(feed: Follower, wanted: CardFilter, density: Density) -> int:
    transcript = Transcript()
    try:
        async with asyncio.timeout(None if wanted.name is None else KNOWN_SECONDS) as limit:
            async for event in feed:
                card = transcript.feed(event)
                if not wanted.takes(card):
                    continue
                limit.reschedule(None)
                if event["event"] in ("start", "waiting", "approval") and not wanted.failed:
                    _print(started_lines(card))
                elif event["event"] == "end":
                    _print(finished_lines(card, density, columns_of(sys.stdout)))
                    if wanted.name is not None:
                        return 0
    except TimeoutError:
        raise unknown(wanted) from None
    raise AssertionError("the feed has no end")


def _print(lines: list[str]) -> None:
    for line in lines:
        print(line)
    sys.stdout.flush()
