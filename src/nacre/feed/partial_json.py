"""Reads a JSON object that is still being written, as far as it goes. Pure."""

from __future__ import annotations

import json
from typing import Any, Final

_BLANKS: Final = " \t\n\r"
_END: Final = object()
"""What stands where the text ends before a value does."""
# A deeper one is no call of a tool.
MOST_DEPTH = 64


def read_partial(text: str) -> dict[str, Any]:
    """Return the fields that the beginning of an object has; a text that breaks off is as long as it is so far."""
    found, _ = _value(text, _skip(text, 0), 0)
    return found if isinstance(found, dict) else {}


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANKS:
        at += 1
    return at


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    if at >= len(text) or depth > MOST_DEPTH:
        return _END, len(text)
    if text[at] == '"':
        return _string(text, at)
    if text[at] == "{":
        return _object(text, at + 1, depth)
    if text[at] == "[":
        return _array(text, at + 1, depth)
    end = at
    while end < len(text) and text[end] not in ",]}" + _BLANKS:
        end += 1
    try:
        # A number may go on, so it counts only when something follows it.
        return (_END if end == len(text) else json.loads(text[at:end])), end
    except ValueError:
        return _END, len(text)


def _string(text: str, at: int) -> tuple[str, int]:
    end = at + 1
    while end < len(text) and text[end] != '"':
        end += 2 if text[end] == "\\" else 1
    if end < len(text):
        closed, rest = text[at : end + 1], end + 1
    else:
        closed, rest = f'{text[at:]}"', len(text)
    # An escape that is cut off is up to eleven characters long: two halves of one character.
    for back in range(13):
        try:
            return json.loads(closed if not back else f'{closed[: -1 - back]}"', strict=False), rest
        except ValueError:
            continue
    return "", rest


def _object(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    while True:
        at = _skip(text, at)
        if at >= len(text) or text[at] != '"':
            return found, min(at + 1, len(text))
        name, at = _string(text, at)
        at = _skip(text, at)
        if at >= len(text) or text[at] != ":":
            return found, len(text)
        value, at = _value(text, _skip(text, at + 1), depth + 1)
        if value is not _END:
            found[name] = value
        at = _skip(text, at)
        if at >= len(text) or text[at] != ",":
            return found, min(at + 1, len(text))
        at += 1


def _array(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    while True:
        at = _skip(text, at)
        if at >= len(text) or text[at] == "]":
            return found, min(at + 1, len(text))
        value, at = _value(text, at, depth + 1)
        if value is not _END:
            found.append(value)
        at = _skip(text, at)
        if at >= len(text) or text[at] != ",":
            return found, min(at + 1, len(text))
        at += 1
