"""Paints rows of a screen on a real terminal: text with its styles, as escape sequences. Pure.

Only what is built here reaches the terminal: the text of a screen holds no control characters.
"""

from __future__ import annotations

from collections.abc import Sequence

from nacre.screen.virtual_screen import Modes, Span, Style

_SWITCHES = (("bold", 1), ("faint", 2), ("italic", 3), ("underline", 4), ("inverse", 7), ("strike", 9))
RESET, ERASE_RIGHT = "\x1b[0m", "\x1b[K"


def painted_row(spans: Sequence[Span]) -> str:
    """Return a row, which ends with plain blanks up to the edge."""
    return "".join(f"{_sequence(span.style)}{_printable(span.text)}" for span in spans) + RESET + ERASE_RIGHT


def _sequence(style: Style) -> str:
    codes = ["0", *(str(code) for name, code in _SWITCHES if getattr(style, name))]
    codes += [*_colour(style.fg, 38), *_colour(style.bg, 48)]
    return f"\x1b[{';'.join(codes)}m"


def _colour(colour: int | str | None, kind: int) -> list[str]:
    if colour is None:
        return []
    if isinstance(colour, int):
        return [f"{kind};5;{colour}"]
    return [f"{kind};2;{';'.join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))}"]


def _printable(text: str) -> str:
    return "".join(one if one >= " " and not "\x7f" <= one <= "\x9f" else " " for one in text)


def mode_changes(before: Modes, after: Modes) -> str:
    """Return what makes a terminal send keys, paste and mouse as the program expects them."""
    switched = [
        ("1", before.application_cursor, after.application_cursor),
        ("2004", before.bracketed_paste, after.bracketed_paste),
        ("1002;1006", before.mouse, after.mouse),
    ]
    return "".join(f"\x1b[?{mode}{'h' if on else 'l'}" for mode, was, on in switched if was != on)
