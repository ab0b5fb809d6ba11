"""What a program has switched on in a terminal and not off again, so that it can be undone when the program is gone.

Pure. Sequences may be split over the pieces of the output.
"""

from __future__ import annotations

import re

# Private modes that a terminal has on by itself, or that change nothing that stays.
_NORMALLY_ON = {"7", "25"}
_NO_TRACE = {"2026"}
_PRIVATE = re.compile(rb"\x1b\[\?([0-9;]+)([hl])")
_OTHER = re.compile(rb"\x1b(?:([=>])|\[>([0-9]*)u|\[<([0-9]*)u|\[>4;([0-9])m|\[([0-9;]*)r|(c))")
# An escape sequence that is not whole yet; a longer one is none of these.
_UNFINISHED = re.compile(rb"\x1b(?:\[[?><]?[0-9;]*)?\Z")
MOST_UNFINISHED = 64


class LeftModes:
    """Fed with what a program writes to a terminal."""

    def __init__(self) -> None:
        self._rest = b""
        self._forget()

    def _forget(self) -> None:
        self._changed: dict[str, bool] = {}
        self._keypad = self._modify = self._region = False
        self._kitty = 0
        """How many times the keyboard protocol was pushed."""

    def feed(self, data: bytes) -> None:
        if not self._rest and b"\x1b" not in data:
            return
        data = self._rest + data
        unfinished = _UNFINISHED.search(data[-MOST_UNFINISHED:])
        self._rest = b"" if unfinished is None else unfinished.group()
        for found in _PRIVATE.finditer(data):
            for mode in found[1].decode("ascii").split(";"):
                self._changed[mode] = found[2] == b"h"
        for found in _OTHER.finditer(data):
            self._other(found)

    def _other(self, found: re.Match[bytes]) -> None:
        keypad, pushed, popped, modify, region, reset = found.groups()
        if keypad is not None:
            self._keypad = keypad == b"="
        elif pushed is not None:
            self._kitty += 1
        elif popped is not None:
            self._kitty = max(0, self._kitty - int(popped or b"1"))
        elif modify is not None:
            self._modify = modify != b"0"
        elif region is not None:
            self._region = region != b""
        elif reset is not None:
            self._forget()

    def undo(self) -> bytes:
        """Return what sets the terminal back; b"" for a program that left it as it was."""
        undone: list[str] = []
        if self._kitty:
            undone.append(f"\x1b[<{self._kitty}u")
        if self._modify:
            undone.append("\x1b[>4;0m")
        if self._keypad:
            undone.append("\x1b>")
        if self._region:
            undone.append("\x1b7\x1b[r\x1b8")
        for mode, on in self._changed.items():
            if mode in _NO_TRACE or on == (mode in _NORMALLY_ON):
                continue
            undone.append(f"\x1b[?{mode}{'h' if mode in _NORMALLY_ON else 'l'}")
        if undone:
            undone.append("\x1b[0m")
        return "".join(undone).encode("ascii")
