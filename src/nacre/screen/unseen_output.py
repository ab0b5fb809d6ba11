"""Output that waits to be drawn: drawing is put off until a screen is looked at, and then bounded."""

from __future__ import annotations

import re

from nacre.screen.virtual_screen import VirtualScreen

# The most that is drawn at once, the newest. A megabyte of short lines takes 0.2 s, and 3 s with pyte.
DRAWN_BYTES = {"ghostty": 64 * 1024, "pyte": 24 * 1024}
# Ends a string that the passed-over bytes began, and an unfinished sequence.
RESYNC = b"\x18\x1b\\"
# What changes more than the rows that it is written to: escape sequences and other controls.
_BEYOND_ROWS = re.compile(rb"[^\x08-\x0a\x0d\x20-\x7e\x80-\xff]|\xc2[\x80-\x9f]")


def decisive(data: bytes, rows: int) -> bytes:
    """Return the end of some output that draws the same screen: of lines that scroll by, those that stay.

    A flood of short lines takes an emulator ten times as long as it takes to find the last of them. Lines below a
    region that scrolls do not scroll by; there only the newest of them are drawn.
    """
    cut = len(data)
    # As many lines bring the cursor to the last row, and as many more move away what was below it.
    for _ in range(2 * rows + 1):
        # The line after it begins in the first column, wherever the one before has ended.
        if (cut := data.rfind(b"\r\n", 0, cut)) < 0:
            return data
    return data if _BEYOND_ROWS.search(data, 0, cut) else data[cut:]


class UnseenOutput:
    """The newest output since the screen was drawn; memory is bounded."""

    def __init__(self, screen: VirtualScreen) -> None:
        self._screen = screen
        self._most = DRAWN_BYTES[screen.emulator]
        self._unseen = bytearray()
        self._passed_over = False

    def add(self, data: bytes) -> None:
        self._unseen += data
        if len(self._unseen) > 2 * self._most:
            del self._unseen[: -self._most]
            self._passed_over = True

    def draw(self) -> None:
        """Bring the screen up to date."""
        if len(self._unseen) > self._most:
            del self._unseen[: -self._most]
            self._passed_over = True
        if self._passed_over:
            self._screen.feed(RESYNC)
            self._passed_over = False
        if self._unseen:
            self._screen.feed(decisive(bytes(self._unseen), self._screen.rows))
            self._unseen.clear()
