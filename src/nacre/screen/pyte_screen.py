"""A screen by pyte, in pure Python: slower, and with what pyte 0.8 lacks added here.

pyte raises on sequences that common programs send, has no alternate screen, and remembers without bound. Whole
sequences that it misreads are taken out before it sees them.
"""

from __future__ import annotations

import copy
import re
from typing import Any

import pyte
from pyte import graphics

from nacre.screen.virtual_screen import PLAIN, Cursor, Modes, ShownRows, Style, check_size, joined

# What pyte misreads: strings for the terminal itself (the title is one), sequences of other kinds, private ones but for
# modes and erasing, and numbers longer than any program means.
_FOREIGN = re.compile(
    rb"\x1b\](?P<title>[02];[^\x1b\x07]*)(?:\x1b\\|\x07)"
    rb"|\x1b[P_^X\]][^\x1b\x07]*(?:\x1b\\|\x07)?"
    rb"|\x1b\[[<=>][0-?]*[ -/]*[@-~]"
    rb"|\x1b\[\?[0-?]*[ -/]*[@-JL-gi-km-~]"
    rb"|\x1b\[[0-?]*[ -/]+[@-~]"
    rb"|\x1b\[[0-9;]*:[0-?]*[@-~]"
    rb"|\x1b\[[0-?]{64,}"
)
# The beginning of a sequence, at the end of what has come.
_UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|[\]P_^X][^\x1b\x07]*\x1b?|[(#%)]?)\Z")
_MOST_HELD_BYTES = 4096
# A character with more marks than this is no text.
_MARKS = re.compile("([\u0300-\u036f\u20d0-\u20ff]{8})[\u0300-\u036f\u20d0-\u20ff]+")
_ALTERNATE = {47, 1047, 1049}
_MOUSE = (1000, 1002, 1003)
_NAMES = ("black", "red", "green", "brown", "blue", "magenta", "cyan", "white")
_PALETTE: dict[str, int] = {
    **{name: number for number, name in enumerate(_NAMES)},
    **{f"bright{name}": number + 8 for number, name in enumerate(_NAMES)},
    # As pyte spells it.
    "bfightmagenta": 13,
    **{colour: number for number, colour in reversed(list(enumerate(graphics.FG_BG_256))) if number >= len(_NAMES) * 2},
}
_WITH_TWO = ("cursor_position", "set_margins")


class _Screen(pyte.Screen):
    """pyte's screen with an alternate one, a single saved cursor, and no fault of a program that raises."""

    def __init__(self, columns: int, rows: int) -> None:
        self.primary: tuple[dict[int, Any], Any] | None = None
        """The lines and the cursor of the first screen while the alternate one is shown."""
        super().__init__(columns, rows)

    def reset(self) -> None:
        self.primary = None
        super().reset()

    def save_cursor(self) -> None:
        self.savepoints.clear()
        super().save_cursor()

    def restore_cursor(self) -> None:
        saved = list(self.savepoints)
        super().restore_cursor()
        self.savepoints[:] = saved

    def set_mode(self, *modes: int, **kwargs: Any) -> None:
        private = bool(kwargs.get("private"))
        if private and _ALTERNATE & set(modes) and self.primary is None:
            self.primary = (dict(self.buffer), copy.copy(self.cursor))
            self.buffer.clear()
            self.dirty.update(range(self.lines))
        super().set_mode(*_without_columns(modes, private=private), **kwargs)

    def reset_mode(self, *modes: int, **kwargs: Any) -> None:
        private = bool(kwargs.get("private"))
        super().reset_mode(*_without_columns(modes, private=private), **kwargs)
        if private and _ALTERNATE & set(modes) and self.primary is not None:
            lines, cursor = self.primary
            self.primary = None
            self.buffer.clear()
            self.buffer.update(lines)
            cursor.hidden = self.cursor.hidden
            self.cursor = cursor
            self.ensure_vbounds()
            self.ensure_hbounds()
            self.dirty.update(range(self.lines))

    def select_graphic_rendition(self, *attrs: int, **_: Any) -> None:
        super().select_graphic_rendition(*attrs)


def _without_columns(modes: tuple[int, ...], *, private: bool) -> tuple[int, ...]:
    """The modes without the one that makes the screen 132 columns wide: its size is its viewer's."""
    return tuple(mode for mode in modes if not (private and mode == 3))


def _tolerant(name: str) -> Any:
    plain = getattr(pyte.Screen, name)
    most = 2 if name in _WITH_TWO else 1

    def handle(self: _Screen, *numbers: int, **_: Any) -> None:
        plain(self, *numbers[:most])

    return handle


# A program may send more numbers than a sequence has.
for _name in set(pyte.Stream.csi.values()) - {"set_mode", "reset_mode", "select_graphic_rendition"}:
    setattr(_Screen, _name, _tolerant(_name))


class PyteScreen(ShownRows):
    emulator = "pyte"

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self._screen = _Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen, strict=False)
        self._held = b""
        self._shown = [()] * rows
        self._dirty = set(range(rows))

    def feed(self, data: bytes) -> None:
        data = self._held + data
        self._held = b""
        unfinished = _UNFINISHED.search(data, max(0, len(data) - _MOST_HELD_BYTES))
        if unfinished is not None:
            data, self._held = data[: unfinished.start()], data[unfinished.start() :]
        text = self._stream.utf8_decoder.decode(_FOREIGN.sub(self._take, data))
        pyte.Stream.feed(self._stream, _MARKS.sub(r"\1", text))

    def _take(self, found: re.Match[bytes]) -> bytes:
        if found["title"] is not None:
            self._screen.title = found["title"][2:].decode("utf-8", "replace")
        return b""

    def resize(self, columns: int, rows: int) -> None:
        columns, rows = check_size(columns, rows)
        self._screen.resize(rows, columns)
        self._screen.ensure_hbounds()
        self.columns, self.rows = columns, rows
        self._shown = [()] * rows
        self._dirty = set(range(rows))
        self._screen.dirty.update(range(rows))

    @property
    def cursor(self) -> Cursor:
        cursor = self._screen.cursor
        return Cursor(min(cursor.x, self.columns - 1), cursor.y, not cursor.hidden)

    @property
    def title(self) -> str:
        return self._screen.title

    @property
    def modes(self) -> Modes:
        modes = self._screen.mode
        return Modes(
            alternate=self._screen.primary is not None,
            application_cursor=1 << 5 in modes,
            bracketed_paste=2004 << 5 in modes,
            mouse=any(mode << 5 in modes for mode in _MOUSE),
        )

    def _refresh(self) -> None:
        """Read the rows that changed since the last look."""
        changed, self._screen.dirty = self._screen.dirty, set()
        for number in changed:
            if number < self.rows:
                line = self._screen.buffer[number]
                # The second half of a wide character has no text.
                row = joined([(char.data, _style(char)) for x in range(self.columns) if (char := line[x]).data])
                if row != self._shown[number]:
                    self._shown[number] = row
                    self._dirty.add(number)


def _style(char: Any) -> Style:
    if char[1:] == ("default", "default", False, False, False, False, False, False):
        return PLAIN
    return Style(
        fg=_colour(char.fg),
        bg=_colour(char.bg),
        bold=char.bold,
        italic=char.italics,
        underline=char.underscore,
        inverse=char.reverse,
        strike=char.strikethrough,
    )


def _colour(name: str) -> int | str | None:
    if name == "default":
        return None
    return _PALETTE.get(name, f"#{name}")
