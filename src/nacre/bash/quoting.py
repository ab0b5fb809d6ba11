"""Which stretches of a script are unquoted words of commands, and which are quoted texts.

For the substitution of URLs in a text: comments, here-documents and what cannot be read belong to neither.
"""

from itertools import pairwise
from typing import TypeAlias

from nacre.bash.reader import read
from nacre.bash.tree import Program, UnreadableError, each_word, substitutions

Stretch: TypeAlias = tuple[int, int]
_WORD, _QUOTED = 1, 2


def stretches(text: str) -> tuple[list[Stretch], list[Stretch]]:
    """Return the unquoted stretches of the words of a script, and its closed quoted texts with their quotes."""
    try:
        spans = _spans(read(text))
    except UnreadableError:
        return [], []
    # Spans nest, so those that begin later lie inside; a quote at the beginning of a word is inside the word.
    paint = bytearray(len(text) + 1)
    for start, end, colour in sorted(set(spans), key=lambda span: (span[0], span[2])):
        paint[start : min(end, len(text))] = bytes([colour]) * (min(end, len(text)) - start)
    edges = [at for at in range(len(paint)) if paint[at] != (paint[at - 1] if at else 0)]
    plain = [(start, end) for start, end in pairwise(edges) if paint[start] == _WORD]
    quoted = {(start, end) for start, end, colour in spans if colour == _QUOTED and end <= len(text)}
    return plain, sorted(quoted)


def _spans(program: Program) -> list[tuple[int, int, int]]:
    """Return where the text has words and quoted texts; what stands in backquotes is a text of its own."""
    found: list[tuple[int, int, int]] = []
    texts = [(program, 0)]
    while texts:
        outer, offset = texts.pop()
        found += [(start + offset, end + offset, _QUOTED) for start, end in outer.quotes]
        programs = [outer]
        while programs:
            words = list(each_word(programs.pop()))
            found += [(word.start + offset, word.end + offset, _WORD) for word in words]
            for inner in substitutions(words):
                if inner.source is outer.source:
                    programs.append(inner)
                elif inner.origin is not None:
                    texts.append((inner, offset + inner.origin))
    return found
