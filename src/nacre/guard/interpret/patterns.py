"""Shell patterns: matching for `${x#pattern}`, `case`, and the question which names a glob covers.

Takes text in the alphabet of values: a shielded `*` is a star in a name, a bare one is a wildcard.
"""

import re
from functools import lru_cache
from typing import Final

from nacre.guard.interpret.alphabet import UNKNOWN, is_opaque, plain

# Each star multiplies the work by the length of the text.
_MAX_STEPS: Final = 2_000_000
BRACKET: Final = re.compile(r"\[[!^]?+\]?+(?:\[:\w++:\]|[^\]])*+\]")
# `]`, `[` and `^` would need escapes and are left out: no verdict depends on them.
CLASSES: Final = {
    "alpha": "a-zA-Z",
    "alnum": "a-zA-Z0-9",
    "lower": "a-z",
    "upper": "A-Z",
    "digit": "0-9",
    "xdigit": "0-9a-fA-F",
    "word": "a-zA-Z0-9_",
    "space": " \t\n\r\v\f",
    "blank": " \t",
    "punct": "!-/:-@_`{-~",
    "graph": "!-Z_-~",
    "print": " -Z_-~",
    "cntrl": "\x00-\x1f",
}
# What closes an extended glob, `@(a|b)` or `!(a)`, as a regular expression.
_GROUPS: Final = {"?": ")?", "*": ")*", "+": ")+", "@": ")", "!": r")\Z).*)"}
_CLASS: Final = re.compile(r"\[:(" + "|".join(CLASSES) + r"):\]")


@lru_cache(maxsize=512)
def pattern_regex(pattern: str) -> re.Pattern[str] | None:
    """Return the regular expression of a shell pattern, None when a part of it is not known or it is malformed."""
    if is_opaque(pattern):
        return None
    out: list[str] = []
    pos = 0
    # Without this, a long row of `[` and no `]` would take quadratic time.
    last = pattern.rfind("]")
    groups: list[str] = []
    while pos < len(pattern):
        char = pattern[pos]
        if char in _GROUPS and pattern[pos + 1 : pos + 2] == "(":
            out.append("(?:(?!(?:" if char == "!" else "(?:")
            groups.append(_GROUPS[char])
            pos += 1
        elif groups and char in "|)":
            out.append("|" if char == "|" else groups.pop())
        elif char == "*":
            # A row of stars is one star; as many `.*` would backtrack without end.
            if out[-1:] != [".*"]:
                out.append(".*")
        elif char == "?":
            out.append(".")
        elif char == "[":
            found = BRACKET.match(pattern, pos) if pos < last else None
            if found is None:
                out.append(r"\[")
            else:
                out.append(_bracket(found[0][1:-1]))
                pos = found.end() - 1
        else:
            out.append(re.escape(plain(char)))
        pos += 1
    try:
        return re.compile("".join(out), re.DOTALL)
    except re.error:
        return None


def _bracket(content: str) -> str:
    negated = content[:1] in ("!", "^")
    body = content[1:] if negated else content
    body = _CLASS.sub(lambda match: CLASSES[match[1]], plain(body).replace("\\", r"\\"))
    body = body.replace("]", r"\]").replace("[", r"\[").replace("^", r"\^")
    return f"[{'^' if negated else ''}{body}]"


def matches(pattern: str, text: str) -> bool:
    """True if the pattern covers the whole text; an unreadable pattern covers nothing."""
    regex = _affordable(pattern, text)
    return regex is not None and regex.fullmatch(text) is not None


def _affordable(pattern: str, text: str) -> re.Pattern[str] | None:
    """Return the pattern's regular expression, None when matching this text could take too long."""
    return None if len(text) ** (pattern.count("*") + pattern.count("+(") + 1) > _MAX_STEPS else pattern_regex(pattern)


def strip_prefix(text: str, pattern: str, *, longest: bool) -> str:
    """`${text#pattern}` and `${text##pattern}`."""
    regex = _affordable(pattern, text)
    if regex is None:
        return UNKNOWN
    lengths = range(len(text), -1, -1) if longest else range(len(text) + 1)
    return next((text[n:] for n in lengths if regex.fullmatch(text, 0, n)), text)


def strip_suffix(text: str, pattern: str, *, longest: bool) -> str:
    """`${text%pattern}` and `${text%%pattern}`."""
    regex = _affordable(pattern, text)
    if regex is None:
        return UNKNOWN
    starts = range(len(text) + 1) if longest else range(len(text), -1, -1)
    return next((text[:n] for n in starts if regex.fullmatch(text, n)), text)


def replace(text: str, pattern: str, replacement: str, *, mode: str) -> str:
    """`${text/pattern/replacement}`; mode is `/`, `//`, `/#` or `/%`."""
    regex = _affordable(pattern, text)
    if regex is None:
        return UNKNOWN
    if pattern == "":
        return text
    new = plain(replacement)
    if mode == "/#":
        found = regex.match(text)
        return new + text[found.end() :] if found is not None else text
    if mode == "/%":
        start = next((n for n in range(len(text) + 1) if regex.fullmatch(text, n)), None)
        return text if start is None else text[:start] + new
    return regex.sub(lambda _: new, text, count=0 if mode == "//" else 1)
