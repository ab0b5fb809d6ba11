"""Replays the recording of a terminal: an asciicast (version 2), drawn on the terminal that nacre runs in.

It is drawn from a screen in memory, so that nothing of an old output reaches the person's terminal but text and styles.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from nacre.artifacts.store import ArtifactStore
from nacre.cli.own_terminal import OwnTerminal, own_size
from nacre.cli.screen_window import ScreenWindow
from nacre.errors import ArtifactError, InvalidRequestError, JobError
from nacre.jobs.table import JobTable
from nacre.screen import VirtualScreen, open_screen
from nacre.screen.virtual_screen import check_size
from nacre.warden.record import open_regular
from nacre.warden.recording import NAME

# A pause of the program is replayed no longer than this.
LONGEST_PAUSE_SECONDS = 2.0
FRAME_SECONDS = 0.03
# q, Esc, Ctrl-C, Ctrl-D, Ctrl-]
_LEAVE = (b"q", b"\x1b", b"\x03", b"\x04", b"\x1d")


class Moment(NamedTuple):
    """One event of a recording."""

    seconds: float
    kind: str
    text: str


class Recorded(NamedTuple):
    columns: int
    rows: int
    moments: list[Moment]


def recording_of(entries: list[dict[str, Any]], state_dir: str) -> str | None:
    """Return the path of a call's recording; None where it has none, or none any more."""
    for entry in entries:
        if (kept := entry.get("recording")) is not None:
            with contextlib.suppress(ArtifactError):
                return ArtifactStore(os.path.join(state_dir, "artifacts")).plain_path(int(kept))
    for entry in entries:
        with contextlib.suppress(JobError):
            path = str(JobTable(state_dir).get(str(entry.get("jobId"))).directory / NAME)
            return path if os.path.isfile(path) else None
    return None


def read_recording(path: str) -> Recorded:
    """Read an asciicast; a last line that is not whole, of a program that runs or was killed, is left out."""
    with open(open_regular(path, os.O_RDONLY), encoding="utf-8") as file:
        try:
            header = json.loads(file.readline())
            columns, rows = check_size(header["width"], header["height"])
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidRequestError(f"{path} is no recording of a terminal: {error}", field="ID") from error
        return Recorded(columns, rows, list(_moments(file)))


def _moments(lines: Iterator[str]) -> Iterator[Moment]:
    for line in lines:
        with contextlib.suppress(ValueError, TypeError):
            seconds, kind, text = json.loads(line)
            yield Moment(float(seconds), str(kind), str(text))


async def replay(recorded: Recorded, *, speed: float) -> str:
    """Draw it as it was, until its end or q; return the text of the screen then."""
    screen = open_screen(recorded.columns, recorded.rows)
    left = asyncio.Event()

    def typed(keys: bytes) -> None:
        if keys.startswith(_LEAVE):
            left.set()

    with OwnTerminal(typed=typed, resized=lambda _size: None) as terminal:
        window = ScreenWindow(terminal)
        try:
            before = due = 0.0
            for moment in recorded.moments:
                due += max(0.0, min(moment.seconds - before, LONGEST_PAUSE_SECONDS)) / speed
                before = moment.seconds
                if due >= FRAME_SECONDS:
                    size = own_size()
                    line = f" {before:.1f} s of {recorded.moments[-1].seconds:.1f} s · q leaves"
                    window.draw(screen, line, columns=size.columns, rows=size.rows)
                    if await _pressed(left, due):
                        break
                    due = 0.0
                _apply(moment, screen)
        finally:
            window.close()
            await terminal.drained()
    return "\n".join(screen.text()).rstrip("\n")


async def _pressed(left: asyncio.Event, seconds: float) -> bool:
    """Wait that long; True as soon as the person leaves."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await left.wait()
    return left.is_set()


def _apply(moment: Moment, screen: VirtualScreen) -> None:
    if moment.kind == "o":
        screen.feed(moment.text.encode())
    elif moment.kind == "r":
        with contextlib.suppress(ValueError, InvalidRequestError):
            columns, _, rows = moment.text.partition("x")
            screen.resize(*check_size(int(columns), int(rows)))
