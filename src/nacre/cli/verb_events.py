"""`nacre events`: prints the feed as JSON lines, for scripts and plugins."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os

from nacre import config
from nacre.cli.interruption import Interruption
from nacre.feed.follower import Follower

EPILOG = """\
One object a line: v, seq, time, call, event (start, output, waiting, approval, end, job, preview), surface, session,
project, pid, and what the event is about (docs/design/people.md). It begins with what runs now. Without --follow it
ends after that.

examples:
  nacre events --follow
  nacre events --follow | jq -r 'select(.event == "end") | "\\(.outcome) \\(.exitCode)"'
"""

# How long a program that runs commands may take to notice a viewer.
NOTICE_SECONDS = 0.8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-f", "--follow", action="store_true", help="go on with what happens, until interrupted")


def main(namespace: argparse.Namespace) -> int:
    interruption = Interruption()
    interruption.take_signals()
    try:
        return asyncio.run(interruption.guard(_print(follow=namespace.follow)))
    except SystemExit:
        # Interrupting is how it ends.
        return 0


async def _print(*, follow: bool) -> int:
    async with Follower(config.state_dir(os.environ)) as feed:
        if follow:
            async for event in feed:
                _line(event)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(NOTICE_SECONDS):
                async for event in feed:
                    _line(event)
        return 0


def _line(event: dict[str, object]) -> None:
    print(json.dumps(event), flush=True)
