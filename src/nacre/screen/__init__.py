"""A terminal's screen in memory: bytes of a program in, rows of styled text out.

`virtual_screen` has the interface; an emulator is loaded at the first `open_screen`.
"""

from __future__ import annotations

from nacre.screen.keys import encode_key, encode_mouse, encode_paste
from nacre.screen.virtual_screen import Cursor, Modes, ScreenUnavailableError, Span, Style, VirtualScreen, open_screen

__all__ = [
    "Cursor",
    "Modes",
    "ScreenUnavailableError",
    "Span",
    "Style",
    "VirtualScreen",
    "encode_key",
    "encode_mouse",
    "encode_paste",
    "open_screen",
]
