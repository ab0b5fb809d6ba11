"""Lines as a person would have seen them: line ends made plain, progress bars settled, long lines capped.

Works on text that is already free of escapes. What the cap drops is counted exactly, in bytes of UTF-8.
Pure; which lines are shown is the window's business.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from nacre.output.decode import trim_head

MARK = "…"
_MARK_BYTES = len(MARK.encode())

# How many states of a line that is rewritten with other words are shown, half of them the newest.
MOST_STATES = 10

_WORD = re.compile(r"[^\W\d_]+")
# What a progress bar counts in: these change while the line stays the same.
_UNITS_TEXT = """
    b k m g t kb mb gb tb kib mib gib tib bit kbit mbit kbits mbits bps kbps mbps gbps
    s h d x o it ms us ns sec secs min mins hr hrs eta
"""
_UNITS = frozenset(_UNITS_TEXT.split())
_NO_LETTERS = dict.fromkeys(map(ord, "0123456789 \t.,:;%#=><-+*/\\|()[]{}_"))


@dataclass(frozen=True, slots=True)
class Settled:
    """Text without carriage returns."""

    text: str
    redraws: int
    """Earlier states of redrawn lines that are not in the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CappedText:
    """Text none of whose lines is longer than the cap."""

    text: str
    dropped_bytes: int
    """Bytes taken out of long lines."""
    capped_lines: int
    """Lines that lost some."""


def settle(text: str) -> Settled:
    """Return `text` with LF line ends and of each line redrawn over carriage returns its last state.

    A redraw is a state with all words of the one before, whatever its numbers and signs. Other states are lines of
    their own: `ok` written over `ERROR: disk failed` leaves both.
    """
    text = text.replace("\r\n", "\n")
    if "\r" not in text:
        return Settled(text, 0)
    redraws = 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if "\r" in line:
            states = [state for state in line.split("\r") if state and not state.isspace()]
            shown = _without_redraws(states)
            if len(shown) > MOST_STATES:
                half = MOST_STATES // 2
                mark = f"[{MARK} {len(shown) - 2 * half} states of this line left out {MARK}]"
                redraws += len(states) - 2 * half
                shown = [*shown[:half], mark, *shown[-half:]]
            else:
                redraws += len(states) - len(shown)
            lines[number] = "\n".join(shown)
    return Settled("\n".join(lines), redraws)


def _without_redraws(states: list[str]) -> list[str]:
    shown: list[str] = []
    letters, words = "", frozenset[str]()
    for state in states:
        before, letters = letters, state.translate(_NO_LETTERS)
        if shown and letters == before:
            shown[-1] = state
            continue
        known, words = words, frozenset(_WORD.findall(state.lower())) - _UNITS
        if shown and known <= words:
            shown[-1] = state
        else:
            shown.append(state)
    return shown


def cap_lines(text: str, limit_bytes: int) -> CappedText:
    """Cut each line to at most `limit_bytes` of UTF-8, the mark of a cut included."""
    room = limit_bytes - _MARK_BYTES
    if room < 1:
        raise ValueError(f"a line cap of {limit_bytes} bytes leaves no room beside its mark; give at least 4")
    if not _has_longer_line(text, limit_bytes // 4):
        return CappedText(text=text, dropped_bytes=0, capped_lines=0)
    dropped = capped = 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if len(line) * 4 <= limit_bytes:
            continue
        data = line.encode("utf-8", "surrogatepass")
        if len(data) > limit_bytes:
            kept = trim_head(data[:room])
            lines[number] = kept.decode("utf-8", "surrogatepass") + MARK
            dropped += len(data) - len(kept)
            capped += 1
    return CappedText(text="\n".join(lines) if capped else text, dropped_bytes=dropped, capped_lines=capped)


def _has_longer_line(text: str, characters: int) -> bool:
    """Whether a line has more than so many characters, told in leaps of as many: ordinary output has none."""
    at = 0
    while len(text) - at > characters:
        end = text.rfind("\n", at, at + characters + 1)
        if end < 0:
            return True
        at = end + 1
    return False
