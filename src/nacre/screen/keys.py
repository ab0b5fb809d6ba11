"""Encodes keys, pasted text and mouse events for the program on a terminal. Pure.

Names are those of Textual: "up", "ctrl+c", "alt+x", "shift+tab", "f5", "escape"; a single character is itself.
"""

from __future__ import annotations

from typing import Literal

from nacre.screen.virtual_screen import Modes

ESCAPE = "\x1b"

# Final byte of the sequences that depend on the cursor mode.
_CURSOR = {"up": "A", "down": "B", "right": "C", "left": "D", "home": "H", "end": "F"}
# Number of the sequences that end with a tilde.
_TILDE = {
    "insert": 2,
    "delete": 3,
    "pageup": 5,
    "pagedown": 6,
    "f5": 15,
    "f6": 17,
    "f7": 18,
    "f8": 19,
    "f9": 20,
    "f10": 21,
    "f11": 23,
    "f12": 24,
}
_FUNCTION = {"f1": "P", "f2": "Q", "f3": "R", "f4": "S"}
_PLAIN = {"enter": "\r", "tab": "\t", "backspace": "\x7f", "escape": ESCAPE, "space": " "}
_ALIASES = {"return": "enter", "esc": "escape", "page_up": "pageup", "page_down": "pagedown", "del": "delete"}
# Control characters of keys that are no letters.
_CONTROLS = {"@": 0, "space": 0, " ": 0, "[": 27, "\\": 28, "]": 29, "^": 30, "_": 31, "/": 31, "?": 127}
_MODIFIERS = {"shift": 1, "alt": 2, "ctrl": 4, "super": 8, "meta": 2}
# Textual spells the keys of some characters.
_CHARACTERS = {
    "at": "@",
    "backslash": "\\",
    "circumflex_accent": "^",
    "left_square_bracket": "[",
    "minus": "-",
    "plus": "+",
    "question_mark": "?",
    "right_square_bracket": "]",
    "slash": "/",
    "underscore": "_",
}
# The kitty protocol names these by code point.
_KITTY_CODES = {"enter": 13, "tab": 9, "backspace": 127, "escape": 27, "space": 32}
_DISAMBIGUATE = 1

MouseAction = Literal["press", "release", "move", "scroll_up", "scroll_down"]
_SCROLLS = {"scroll_up": 64, "scroll_down": 65}


def encode_key(key: str, modes: Modes) -> bytes:
    """Return the bytes of a key; b"" for one that no terminal sends, such as a modifier alone."""
    modifiers, name = _parts(key)
    bits = sum({_MODIFIERS[one] for one in modifiers})
    if name in _CURSOR:
        if bits:
            return f"{ESCAPE}[1;{bits + 1}{_CURSOR[name]}".encode()
        return f"{ESCAPE}{'O' if modes.application_cursor else '['}{_CURSOR[name]}".encode()
    if name in _TILDE:
        return f"{ESCAPE}[{_TILDE[name]}{f';{bits + 1}' if bits else ''}~".encode()
    if name in _FUNCTION:
        return (f"{ESCAPE}[1;{bits + 1}{_FUNCTION[name]}" if bits else f"{ESCAPE}O{_FUNCTION[name]}").encode()
    if name not in _PLAIN and len(name) != 1:
        return b""
    if modes.kitty & _DISAMBIGUATE and (sequence := _kitty(name, bits)) is not None:
        return sequence
    return _legacy(name, modifiers).encode("utf-8", "surrogateescape")


def _parts(key: str) -> tuple[set[str], str]:
    """The modifiers of a key and its name; a plus sign may be the key itself."""
    if len(key) == 1:
        return set(), key
    *modifiers, name = key.split("+") if not key.endswith("++") else [*key[:-2].split("+"), "+"]
    if any(one not in _MODIFIERS for one in modifiers):
        return set(), ""
    name = _CHARACTERS.get(name, _ALIASES.get(name, name))
    if name == "backtab":
        return {*modifiers, "shift"}, "tab"
    return set(modifiers), name


def _kitty(name: str, bits: int) -> bytes | None:
    """The sequence of a key that the older encoding cannot tell from another; None for all others."""
    code = _KITTY_CODES.get(name, ord(name.lower()) if len(name) == 1 else 0)
    # With shift alone a character is what it types; Enter, Tab and Backspace stay as they are without modifiers.
    if (name == "escape" and not bits) or (bits & ~1) or (bits and name in ("enter", "tab", "backspace")):
        return f"{ESCAPE}[{code}{f';{bits + 1}' if bits else ''}u".encode()
    return None


def _legacy(name: str, modifiers: set[str]) -> str:
    if name == "tab" and "shift" in modifiers:
        text = f"{ESCAPE}[Z"
    elif "ctrl" in modifiers and len(name) == 1 and name.isascii() and name.isalpha():
        text = chr(ord(name.upper()) - 64)
    elif "ctrl" in modifiers and name in _CONTROLS:
        text = chr(_CONTROLS[name])
    elif "ctrl" in modifiers and name == "backspace":
        text = "\x08"
    else:
        text = _PLAIN.get(name, name)
        if "shift" in modifiers and len(name) == 1:
            text = text.upper()
    return f"{ESCAPE}{text}" if modifiers & {"alt", "meta"} else text


def encode_paste(text: str, modes: Modes) -> bytes:
    """Return pasted text: in brackets where the program asked for them, and without what could end them."""
    lines = text.replace("\r\n", "\r").replace("\n", "\r")
    if not modes.bracketed_paste:
        return lines.encode("utf-8", "surrogateescape")
    # An escape in it could close the bracket, and the rest would be typed as commands.
    return f"{ESCAPE}[200~{lines.replace(ESCAPE, '')}{ESCAPE}[201~".encode("utf-8", "surrogateescape")


def encode_mouse(
    action: MouseAction, button: int, column: int, row: int, modes: Modes, *, modifiers: frozenset[str] = frozenset()
) -> bytes:
    """Return a mouse event in the SGR form; b"" where the program did not ask for the mouse.

    Args:
        button: 1 left, 2 middle, 3 right; 0 for a move without one.
        column: counted from 0, as the row is.
    """
    if not modes.mouse:
        return b""
    code = _SCROLLS[action] if action in _SCROLLS else button - 1 if button else 3
    if action == "move":
        code += 32
    code += sum({"shift": 4, "alt": 8, "meta": 8, "ctrl": 16}.get(one, 0) for one in modifiers)
    return f"{ESCAPE}[<{code};{column + 1};{row + 1}{'m' if action == 'release' else 'M'}".encode()
