"""From looks at a growing text to what is new in it: a terminal only tells what it shows now.

A terminal that shows its newest output only has lost its beginning by the next look; the two are joined where they
overlap, and where they do not, a mark stands for what was missed. Pure.
"""

from __future__ import annotations

GAP = "[… the terminal no longer had what came here …]\n"
# So much of the newer look must be found in the older one to be more than chance.
ANCHOR_CHARACTERS = 64


class Snapshots:
    def __init__(self) -> None:
        self._last: str | None = None

    def feed(self, text: str, *, truncated: bool) -> str:
        """What this look shows beyond the ones before."""
        last, self._last = self._last, text
        if last is None:
            return GAP + text if truncated else text
        if text.startswith(last):
            return text[len(last) :]
        known = _overlap(last, text)
        if known:
            return text[known:]
        return ("" if last.endswith("\n") else "\n") + GAP + text


def _overlap(older: str, newer: str) -> int:
    """How many characters at the end of the older look begin the newer one: the most that is possible."""
    anchor = newer[:ANCHOR_CHARACTERS]
    at = older.find(anchor) if len(anchor) == ANCHOR_CHARACTERS else -1
    while at >= 0:
        if newer.startswith(older[at:]):
            return len(older) - at
        at = older.find(anchor, at + 1)
    return 0
