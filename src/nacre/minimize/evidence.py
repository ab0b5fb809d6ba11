"""Which rows are evidence: errors, warnings, failing tests, refusals. No stage may hide them.

The detectors are data, in evidence.toml. A cheap search over the whole text finds the rows that could be evidence; only
these are looked at one by one.
"""

from __future__ import annotations

import functools
import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources

from nacre.minimize.rows import Row

# A path with a line number, as diagnostics name it: `src/a.c:12`, `File "x.py", line 3`, `--> a.rs:1:2`, `(a.ts:3:4)`.
POSITION = re.compile(
    r"""(?:[\w@~+./\\-]+\.[A-Za-z]\w{0,9}|Makefile|Dockerfile)(?::\d+|\(\d+[,)]|"?,\s*line \d+)|^\s*(?:-->|❯|at) """
)


@dataclass(frozen=True, slots=True)
class Detector:
    name: str
    words: tuple[str, ...]
    """Lower-case texts of which a row must hold one."""
    wanted: tuple[re.Pattern[str], ...]
    unwanted: tuple[re.Pattern[str], ...]

    def matches(self, line: str) -> bool:
        return any(one.search(line) for one in self.wanted) and not any(one.search(line) for one in self.unwanted)


@functools.cache
def detectors() -> tuple[Detector, ...]:
    """The built-in detectors."""
    text = resources.files("nacre.minimize").joinpath("evidence.toml").read_text(encoding="utf-8")
    return tuple(
        Detector(
            one["name"],
            tuple(one["words"].split("|")),
            tuple(map(re.compile, one["any"])),
            tuple(map(re.compile, one["none"])),
        )
        for one in tomllib.loads(text)["detector"]
    )


def mark_evidence(rows: list[Row], text: str) -> None:
    """Mark the rows of a text that are evidence."""
    lowered = text.lower()
    if len(lowered) != len(text):
        # A few letters grow when they are lowered; places would not agree.
        lowered = text
    starts = _starts(rows)
    for detector in detectors():
        for number in {number for word in detector.words for number in _rows_with(word, lowered, starts)}:
            row = rows[number]
            if not row.is_evidence and detector.matches(row.raw):
                row.is_evidence = True


def has_position(line: str) -> bool:
    """Whether a line names a place in a file: then equal words elsewhere do not stand for it."""
    return POSITION.search(line) is not None


def _starts(rows: list[Row]) -> list[int]:
    starts, at = [], 0
    for row in rows:
        starts.append(at)
        at += len(row.raw) + 1
    return starts


def _rows_with(word: str, text: str, starts: list[int]) -> Iterator[int]:
    """Numbers of the rows that hold a word."""
    at = text.find(word)
    while at >= 0:
        number = bisect_right(starts, at) - 1
        yield number
        if number + 1 == len(starts):
            return
        # The rest of this row says nothing new.
        at = text.find(word, starts[number + 1])
