"""Lines as a person would have seen them: line ends made plain, progress bars settled, long lines capped.

Works on text that is already free of escapes. What the cap drops is counted exactly, in bytes of UTF-8.
Pure; which lines are shown is the window's business.
"""

from __future__ import annotations

from nacre.dataclass import dataclass
from nacre.output.decode import trim_head

MARK = "…"
_MARK_BYTES = len(MARK.encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class CappedText:
    """Text none of whose lines is longer than the cap."""

    text: str
    dropped_bytes: int
    """Bytes taken out of long lines."""
    capped_lines: int
    """Lines that lost some."""


def settle(text: str) -> str:
    """Return `text` with LF line ends, and of each line redrawn over carriage returns only its last state."""
    if "\r" not in text:
        return text
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))


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
