"""Take terminal control out of output: escape sequences, control strings, control characters.

TAB, LF and CR stay. A sequence that is broken off takes only itself along: an ESC, CAN or SUB ends it, and so does a
line's end, except in a device control string (images hold line ends). Linear in the input: no part of the pattern can
match what the next part begins with, and all repeats are possessive. Pure; 8-bit controls are plain characters here.
"""

from __future__ import annotations

import re

_CONTROLS = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f"
_STRING = r"[\]X^_][^\x07\x18\x1a\x1b\n]*+"
_DEVICE = r"P[^\x18\x1a\x1b]*+"
_CSI = r"\[[0-?]*+[ -/]*+"
_SHORT = r"[ -/]*+"
_SEQUENCE = rf"\x1b(?:{_CSI}[@-~]?|{_STRING}(?:\x07|\x1b\\)?|{_DEVICE}(?:\x1b\\)?|{_SHORT}[0-~]?)"

_REMOVED = re.compile(rf"{_SEQUENCE}|[{_CONTROLS}\x80-\x9f]")

_UNFINISHED_SOURCE = rf"\x1b(?:(\[)[0-?]*+([ -/]?)[ -/]*+|({_STRING})(\x1b?)|({_DEVICE})(\x1b?)|({_SHORT}))\Z"
_UNFINISHED = re.compile(_UNFINISHED_SOURCE)
SEQUENCE_BYTES = re.compile(_SEQUENCE.encode())
UNFINISHED_BYTES = re.compile(_UNFINISHED_SOURCE.encode())


def strip(text: str) -> str:
    """Return `text` without terminal control."""
    return _REMOVED.sub("", text)


class EscapeFilter:
    """Strip a stream chunk by chunk: the same result as `strip` of it all, holding a few characters at most."""

    __slots__ = ("_pending",)

    def __init__(self) -> None:
        self._pending = ""

    @property
    def idle(self) -> bool:
        """True if no sequence is unfinished."""
        return not self._pending

    def feed(self, text: str) -> str:
        text = self._pending + text
        unfinished = _UNFINISHED.search(text)
        if unfinished is None:
            self._pending = ""
            return strip(text)
        self._pending = _shortened(unfinished)
        return strip(text[: unfinished.start()])


def _shortened(unfinished: re.Match[str]) -> str:
    """Return the least text that leaves the pattern where the unfinished sequence left it."""
    csi, intermediate, string, string_end, device, device_end, short = unfinished.groups()
    if csi:
        return "\x1b[" + intermediate
    if string:
        return "\x1b" + string[0] + string_end
    if device:
        return "\x1bP" + device_end
    return "\x1b" + short[:1]
