"""Which rows are evidence: errors, warnings, failing tests, refusals. No stage may hide them.

The detectors are data, in evidence.toml; users add theirs as problem matchers. A cheap search over the whole text finds
the rows that could be evidence; only these are looked at one by one.
"""

from __future__ import annotations

import functools
import json
import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import accumulate, chain
from typing import Any

from nacre.errors import ConfigError
from nacre.minimize.rows import LONGEST_ROW, Row

# The end of a path with a line number, as diagnostics write it: `a.c:12`, `File "x.py", line 3`, `(a.ts:3:4)`.
_PLACE = re.compile(r'\.[A-Za-z]\w{0,9}(?::\d+|\(\d+[,)]|"?,\s*line \d+)')
_FILE_PLACE = re.compile(r"(?:Makefile|Dockerfile):\d+")
# Rows that are a place: frames of Java, JavaScript and Rust, and the arrows of compilers.
_FRAME = re.compile(r"\n([ \t]*(?:-->|❯|at) [^\n]*)")
# Answers of a server that refused: no error, and no repeat of an answer that it gave.
_STATUS = re.compile(r"4\d\d(?![\w.])")
_BEFORE_STATUS = re.compile(
    r"""(?i:HTTP/[\d.]+"?\ |status(?:_?code)?["']?[=:\ ]+"?|"\ )$|(?:GET|POST|PUT|DELETE|PATCH|HEAD)\ /\S*\ $"""
)
_LONGEST_BEFORE = 200
# Digits that no built-in detector tells apart become one, so that rows of one form are judged once.
_ALIKE = bytes.maketrans(b"346789", b"777777")


@dataclass(frozen=True, slots=True)
class Detector:
    """Patterns of rows that are evidence."""

    name: str
    words: tuple[str, ...]
    """Lower-case texts of which a row must hold one; empty means that each row is looked at, digit for digit."""
    wanted: tuple[re.Pattern[str], ...]
    unwanted: tuple[re.Pattern[str], ...]
    certain: bool = False
    """Whether no filter may know its rows better."""

    def matches(self, line: str) -> bool:
        return any(one.search(line) for one in self.wanted) and not any(one.search(line) for one in self.unwanted)


def joined_patterns(patterns: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    """Few patterns that match what any of these does: one, and those that set flags or have groups."""
    plain = [one for one in patterns if not one.startswith("(?i)") and not re.compile(one).groups]
    folded = [one.removeprefix("(?i)") for one in patterns if one.startswith("(?i)") and not re.compile(one).groups]
    others = [one for one in patterns if re.compile(one).groups]
    return (
        *([re.compile("|".join(f"(?:{one})" for one in plain))] if plain else []),
        *([re.compile("(?i)" + "|".join(f"(?:{one})" for one in folded))] if folded else []),
        *map(re.compile, others),
    )


@functools.cache
def detectors() -> tuple[Detector, ...]:
    """The built-in detectors."""
    text = resources.files("nacre.minimize").joinpath("evidence.toml").read_text(encoding="utf-8")
    return tuple(
        Detector(
            one["name"],
            tuple(one["words"].split("|")),
            joined_patterns(one["any"]),
            joined_patterns(one["none"]),
            one.get("certain", False),
        )
        for one in tomllib.loads(text)["detector"]
    )


def detectors_from_matchers(text: str, origin: str) -> tuple[Detector, ...]:
    """Detectors from a file of problem matchers, in the JSON form of GitHub and VS Code.

    Of a matcher over several rows each row is evidence. A matcher that cannot be read is refused.
    """
    try:
        found = json.loads(text)
        matchers = found["problemMatcher"] if isinstance(found, dict) else found
        return tuple(
            Detector(str(one.get("owner", origin)), (), tuple(map(_pattern, _patterns(one))), (), certain=True)
            for one in matchers
        )
    except (ValueError, KeyError, TypeError, AttributeError, re.error) as exc:
        raise ConfigError(f"{origin}: not a file of problem matchers: {exc}") from exc


def _patterns(matcher: dict[str, Any]) -> list[dict[str, Any]]:
    pattern = matcher["pattern"]
    return pattern if isinstance(pattern, list) else [pattern]


def _pattern(found: dict[str, Any]) -> re.Pattern[str]:
    return re.compile(found["regexp"])


def mark_evidence(rows: list[Row], text: str, among: Sequence[Detector]) -> None:
    """Mark the rows of a text that are evidence, and note their places."""
    mark_places(rows, text, _starts(rows))
    found = _verdicts(text, [detector for detector in among if detector.words])
    if found:
        for row, line in zip(rows, _alike(text).split("\n"), strict=True):
            if line in found:
                row.is_evidence = True
                row.is_certain = row.is_certain or found[line]
    for detector in among:
        for row in rows if not detector.words else ():
            if detector.matches(row.raw):
                row.is_evidence = row.is_certain = True


def _alike(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").translate(_ALIKE).decode("utf-8", "surrogatepass")


def _verdicts(text: str, among: Sequence[Detector]) -> dict[str, bool]:
    """The forms of lines that are evidence, and whether a detector is certain of it."""
    lines = [line for line in dict.fromkeys(_alike(text).split("\n")) if len(line) <= LONGEST_ROW]
    joined = "\n".join(lines)
    lowered = joined.lower()
    if len(lowered) != len(joined):
        # A few letters grow when they are lowered; places would not agree.
        lowered = joined
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))[:-1]
    found: dict[str, bool] = {}
    for detector in among:
        for number in _candidates(detector, lowered, starts):
            line = lines[number]
            if (line not in found or (detector.certain and not found[line])) and detector.matches(line):
                found[line] = detector.certain or found.get(line, False)
    return found


def mark_places(rows: list[Row], text: str, starts: list[int]) -> None:
    """Note for each row the place in a file that it names, or the status of an answer: what is no repeat of others."""
    patterns = [_PLACE, *([_FILE_PLACE] if "file:" in text else [])]
    for match in chain.from_iterable(pattern.finditer(text) for pattern in patterns):
        number = bisect_right(starts, match.start()) - 1
        row = rows[number]
        if not row.place:
            at, raw = match.start() - starts[number], row.raw
            begin = max(raw.rfind(" ", 0, at), raw.rfind("(", 0, at), raw.rfind("\t", 0, at)) + 1
            row.place = raw[begin : match.end() - starts[number]].lstrip("\"'`[")
    for match in _STATUS.finditer(text):
        at = match.start()
        if text[at - 1 : at] in (" ", '"', "=", ":"):
            number = bisect_right(starts, at) - 1
            before = text[max(starts[number], at - _LONGEST_BEFORE) : at]
            if not rows[number].place and _BEFORE_STATUS.search(before):
                rows[number].place = match[0]
    for match in _FRAME.finditer("\n" + text):
        rows[bisect_right(starts, match.start(1) - 1) - 1].place = match[1]


def _candidates(detector: Detector, lowered: str, starts: list[int]) -> set[int]:
    return {number for word in detector.words for number in _rows_with(word, lowered, starts)}


def _starts(rows: list[Row]) -> list[int]:
    starts, at = [], 0
    for row in rows:
        starts.append(at)
        at += len(row.shown) + 1
    return starts


def _rows_with(word: str, text: str, starts: list[int]) -> Iterator[int]:
    """Numbers of the rows that hold a word; `^` before a word stands for the start of a row."""
    if word.startswith("^"):
        yield from _rows_beginning(word[1:], text, starts)
        return
    at = text.find(word)
    while at >= 0:
        number = bisect_right(starts, at) - 1
        yield number
        if number + 1 == len(starts):
            return
        # The rest of this row adds nothing.
        at = text.find(word, starts[number + 1])


def _rows_beginning(word: str, text: str, starts: list[int]) -> Iterator[int]:
    if text.startswith(word):
        yield 0
    at = text.find("\n" + word)
    while at >= 0:
        yield bisect_right(starts, at + 1) - 1
        at = text.find("\n" + word, at + 1)
