"""Which stretches of a script are words of commands, and which are quoted, comments or here-documents.

A light reading for text substitution: it knows quotes, `$( )`, backquotes, comments and here-documents, and where it is
unsure it calls a stretch quoted, so that it is left alone. The guard reads scripts properly; this does not judge any.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_HEREDOC = re.compile(r"<<(-?)[ \t]*(\\?)(?:'([^'\n]*)'|\"([^\"\n]*)\"|([^\s'\"\\;&|<>()]+))")
_BEFORE_COMMENT = frozenset(" \t\n;|&()")


@dataclass(frozen=True, slots=True)
class Stretch:
    start: int
    end: int


@dataclass(slots=True)
class _Reading:
    text: str
    plain: list[Stretch] = field(default_factory=list)
    quoted: list[Stretch] = field(default_factory=list)
    frames: list[str] = field(default_factory=lambda: ["top"])
    """What we are in, from the outside: top, ( or a( for arithmetic, ` and the position of each \"."""
    begun: int = 0
    doubles: list[int] = field(default_factory=list)
    heredocs: list[tuple[str, bool]] = field(default_factory=list)

    def close_plain(self, end: int) -> None:
        if self.begun < end:
            self.plain.append(Stretch(self.begun, end))


def stretches(text: str) -> tuple[list[Stretch], list[Stretch]]:
    """Return the unquoted stretches of a script, and its quoted texts with their quotes."""
    reading = _Reading(text)
    pos = 0
    while pos < len(text):
        pos = _in_double(reading, pos) if reading.frames[-1] == '"' else _in_plain(reading, pos)
    if reading.frames[-1] != '"':
        reading.close_plain(len(text))
    return reading.plain, reading.quoted


def _in_plain(reading: _Reading, pos: int) -> int:
    text, character = reading.text, reading.text[pos]
    match character:
        case "\\":
            return pos + 2
        case "'":
            return _single(reading, pos)
        case '"':
            reading.close_plain(pos)
            reading.frames.append('"')
            reading.doubles.append(pos)
        case "#" if pos == 0 or text[pos - 1] in _BEFORE_COMMENT:
            reading.close_plain(pos)
            reading.begun = text.find("\n", pos) if "\n" in text[pos:] else len(text)
            return reading.begun
        case "(":
            arithmetic = text.startswith("((", pos) or reading.frames[-1] == "a("
            reading.frames.append("a(" if arithmetic else "(")
        case ")" if reading.frames[-1] in ("(", "a("):
            _leave(reading, pos)
        case "`":
            if reading.frames[-1] == "`":
                _leave(reading, pos)
            else:
                reading.frames.append("`")
        case "<" if reading.frames[-1] != "a(" and (found := _heredoc(text, pos)) is not None:
            quoted = next(name for name in (found[3], found[4], found[5]) if name is not None)
            reading.heredocs.append((quoted, bool(found[1])))
            return found.end()
        case "\n" if reading.heredocs:
            return _bodies(reading, pos + 1)
    return pos + 1


def _in_double(reading: _Reading, pos: int) -> int:
    text = reading.text
    if text[pos] == "\\":
        return pos + 2
    if text[pos] == '"':
        reading.frames.pop()
        reading.quoted.append(Stretch(reading.doubles.pop(), pos + 1))
        reading.begun = pos + 1
    elif text.startswith("$(", pos):
        reading.frames.append("a(" if text.startswith("$((", pos) else "(")
        reading.begun = pos + 2
        return pos + 2
    elif text[pos] == "`":
        reading.frames.append("`")
        reading.begun = pos + 1
    return pos + 1


def _leave(reading: _Reading, pos: int) -> None:
    reading.frames.pop()
    if reading.frames[-1] == '"':
        reading.close_plain(pos)


def _single(reading: _Reading, pos: int) -> int:
    text = reading.text
    reading.close_plain(pos)
    if pos and text[pos - 1] == "$":
        found = re.compile(r"(?:[^'\\]|\\.)*'?", re.DOTALL).match(text, pos + 1)
        assert found is not None
        reading.begun = found.end()
        return reading.begun
    close = text.find("'", pos + 1)
    reading.begun = len(text) if close < 0 else close + 1
    if close >= 0:
        reading.quoted.append(Stretch(pos, close + 1))
    return reading.begun


def _heredoc(text: str, pos: int) -> re.Match[str] | None:
    if text.startswith("<<<", pos) or (pos and text[pos - 1] == "<"):
        return None
    return _HEREDOC.match(text, pos)


def _bodies(reading: _Reading, pos: int) -> int:
    """Pass over the here-documents that begin behind this line."""
    reading.close_plain(pos)
    text = reading.text
    for delimiter, tabs in reading.heredocs:
        while pos < len(text):
            end = text.find("\n", pos)
            end = len(text) if end < 0 else end
            line = text[pos:end]
            pos = end + 1
            if (line.lstrip("\t") if tabs else line) == delimiter:
                break
    reading.heredocs.clear()
    reading.begun = min(pos, len(text))
    return pos
