"""Brace expansion: `{a,b}` and `{1..3}`, before anything else is expanded, as bash does it.

Works on the parts of a word, so quoted braces and expansions inside alternatives stay what they are.
"""

import re
from itertools import groupby, pairwise
from typing import Final, TypeAlias

from nacre.bash.tree import Part, Text, UnreadableError
from nacre.guard.interpret.alphabet import UNKNOWN

# Bash has no limit; people write far fewer, and a brace bomb must not use up the time budget.
MAX_WORDS: Final = 512
_MAX_SEQUENCE: Final = 64
_SEQUENCE: Final = re.compile(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?")
_Piece: TypeAlias = str | Part
"""One unquoted character, or a part that braces cannot see into."""


def has_braces(parts: tuple[Part, ...]) -> bool:
    return any(isinstance(part, Text) and not part.quoted and "{" in part.text for part in parts)


def expand_braces(parts: tuple[Part, ...]) -> list[tuple[Part, ...]]:
    """Return all words that one word with braces stands for, in order."""
    pieces: list[_Piece] = []
    for part in parts:
        if isinstance(part, Text) and not part.quoted:
            pieces.extend(part.text)
        else:
            pieces.append(part)
    waiting, done = [pieces], list[tuple[Part, ...]]()
    while waiting:
        current = waiting.pop()
        choices = _first_choice(current)
        if choices is None:
            done.append(_parts(current))
        else:
            waiting.extend(reversed(choices))
        if len(done) + len(waiting) > MAX_WORDS:
            raise UnreadableError("too many words in a brace expansion")
    return done


def _first_choice(pieces: list[_Piece]) -> list[list[_Piece]] | None:
    """Resolve the first brace that expands; None when there is none."""
    opened: list[tuple[int, list[int]]] = []
    best: tuple[int, int, list[int]] | None = None
    for position, piece in enumerate(pieces):
        if piece == "{":
            opened.append((position, []))
        elif piece == "," and opened:
            opened[-1][1].append(position)
        elif piece == "}" and opened:
            start, commas = opened.pop()
            if (commas or _sequence(pieces[start + 1 : position])) and (best is None or start < best[0]):
                best = (start, position, commas)
    if best is None:
        return None
    start, end, commas = best
    before, after = pieces[:start], pieces[end + 1 :]
    if not commas:
        return [[*before, *item, *after] for item in _sequence(pieces[start + 1 : end]) or []]
    edges = [start, *commas, end]
    return [[*before, *pieces[a + 1 : b], *after] for a, b in pairwise(edges)]


def _sequence(pieces: list[_Piece]) -> list[str] | None:
    if not all(isinstance(piece, str) for piece in pieces) or len(pieces) > 40:
        return None
    match = _SEQUENCE.fullmatch("".join(str(piece) for piece in pieces))
    if match is None:
        return None
    first, last, step = match.groups()
    if first.isalpha() != last.isalpha():
        return None
    low, high = (ord(first), ord(last)) if first.isalpha() else (int(first), int(last))
    stride = max(abs(int(step or 1)), 1)
    if abs(high - low) // stride > _MAX_SEQUENCE:
        # The numbers of a long loop are not worth telling apart.
        return [first, UNKNOWN]
    numbers = range(low, high + 1, stride) if low <= high else range(low, high - 1, -stride)
    width = max(len(first), len(last)) if first.startswith("0") or last.startswith("0") else 0
    return [chr(number) if first.isalpha() else str(number).zfill(width) for number in numbers]


def _parts(pieces: list[_Piece]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for is_text, run in groupby(pieces, lambda piece: isinstance(piece, str)):
        group = list(run)
        parts += [Text("".join(map(str, group)))] if is_text else [one for one in group if not isinstance(one, str)]
    return tuple(parts)
