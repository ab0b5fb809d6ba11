"""Backslash escapes of `$'…'`, `echo -e` and `printf`.

Pure decoding, one pass, never raises: an escape that means nothing stays as it is written.
"""

import re
from typing import Final

_SIMPLE: Final = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ESCAPE: Final = re.compile(
    r"\\(?:x(?P<hex>[0-9A-Fa-f]{1,2})|u(?P<u4>[0-9A-Fa-f]{1,4})|U(?P<u8>[0-9A-Fa-f]{1,8})"
    r"|(?P<octal>[0-7]{1,3})|c(?P<control>.)|(?P<char>[\s\S]))"
)
_ECHO_OCTAL: Final = re.compile(r"\\0([0-7]{1,3})")


def _decode(match: re.Match[str]) -> str:
    for group, base in (("hex", 16), ("u4", 16), ("u8", 16), ("octal", 8)):
        digits = match[group]
        if digits is not None:
            code = int(digits, base)
            return chr(code & 0xFF) if group == "octal" else chr(code) if code < 0x110000 else ""
    if match["control"] is not None:
        return chr(ord(match["control"]) & 0x1F)
    char = match["char"]
    if char in _SIMPLE:
        return _SIMPLE[char]
    return char if char in "\\'\"?" else "\\" + char


def decode(text: str) -> str:
    """Decode the escapes of a text."""
    return _ESCAPE.sub(_decode, text) if "\\" in text else text


def decode_echo(text: str) -> str:
    r"""Decode as `echo -e` and `printf %b` do, where octal is written `\0nnn`."""
    return decode(_ECHO_OCTAL.sub(r"\\\1", text)) if "\\" in text else text


def ansi_c(source: str, start: int) -> tuple[str, int, bool]:
    """Read the inside of `$'…'` from `start`: its text, the offset after the quote, whether it was closed."""
    pos = start
    while pos < len(source) and source[pos] != "'":
        pos += 2 if source[pos] == "\\" else 1
    closed = pos < len(source)
    return decode(source[start:pos]).split("\0", 1)[0], min(pos + 1, len(source)), closed
