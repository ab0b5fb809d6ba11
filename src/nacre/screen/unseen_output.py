"""Output that waits to be drawn: drawing is put off until a screen is looked at, and then bounded."""

from __future__ import annotations

from nacre.screen.virtual_screen import VirtualScreen

# The most that is drawn at once, the newest. A megabyte of short lines takes 0.2 s, and 3 s with pyte.
DRAWN_BYTES = {"ghostty": 64 * 1024, "pyte": 24 * 1024}
# Ends a string that the passed-over bytes began, and an unfinished sequence.
RESYNC = b"\x18\x1b\\"


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
            self._screen.feed(bytes(self._unseen))
            self._unseen.clear()
