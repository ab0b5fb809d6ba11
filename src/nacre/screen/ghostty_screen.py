"""A screen by libghostty-vt, through pyghostty: fast, with the alternate screen and the kitty keyboard protocol.

Rows come from its render state, which knows which of them changed; its per-cell calls from Python would take 200 ms
for a screen. A row without styles, as nearly all of a flood are, is read at once.
"""

from __future__ import annotations

import weakref
from typing import Any

import pyghostty
from pyghostty import ffi, lib

from nacre.screen.virtual_screen import PLAIN, Cursor, Modes, ShownRows, Span, Style, check_size, joined

APPLICATION_CURSOR, BRACKETED_PASTE = 1, 2004
# Nothing of it is shown: viewers have the output itself.
SCROLLBACK_LINES = 0
_GRAPHEME_BYTES = 64


class GhosttyScreen(ShownRows):
    emulator = "ghostty"

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self._terminal = pyghostty.Terminal(cols=columns, rows=rows, scrollback=SCROLLBACK_LINES)
        self._state = _made("GhosttyRenderState", lib.ghostty_render_state_new)
        self._iterator = _made("GhosttyRenderStateRowIterator", lib.ghostty_render_state_row_iterator_new)
        self._cells = _made("GhosttyRenderStateRowCells", lib.ghostty_render_state_row_cells_new)
        for pointer, free in (
            (self._cells, lib.ghostty_render_state_row_cells_free),
            (self._iterator, lib.ghostty_render_state_row_iterator_free),
            (self._state, lib.ghostty_render_state_free),
        ):
            weakref.finalize(self, free, pointer[0])
        self._reading = _CellReading()
        self._plain_cells = _PlainCells()
        self._view = ffi.new("GhosttyCellsView*")
        self._shown = [()] * rows
        self._dirty = set(range(rows))
        self._stale = True

    def feed(self, data: bytes) -> None:
        self._terminal.feed(data)
        self._stale = True

    def resize(self, columns: int, rows: int) -> None:
        columns, rows = check_size(columns, rows)
        self._terminal.resize(columns, rows)
        self.columns, self.rows = columns, rows
        self._shown = [()] * rows
        self._dirty = set(range(rows))
        self._stale = True

    @property
    def cursor(self) -> Cursor:
        column, row = self._terminal.cursor
        return Cursor(column, row, bool(self._terminal.get("cursor_visible", "bool")))

    @property
    def title(self) -> str:
        title = self._terminal.get("title", "GhosttyString")
        return bytes(ffi.buffer(title.ptr, title.len)).decode("utf-8", "replace") if title.len else ""

    @property
    def modes(self) -> Modes:
        terminal = self._terminal
        return Modes(
            alternate=terminal.get("active_screen", "GhosttyTerminalScreen") == lib.GHOSTTY_TERMINAL_SCREEN_ALTERNATE,
            application_cursor=terminal.mode(APPLICATION_CURSOR),
            bracketed_paste=terminal.mode(BRACKETED_PASTE),
            mouse=bool(terminal.get("mouse_tracking", "bool")),
            kitty=int(terminal.get("kitty_keyboard_flags", "uint8_t")),
        )

    def _refresh(self) -> None:
        """Read the rows that changed since the last look."""
        if not self._stale:
            return
        self._stale = False
        state = self._state[0]
        _check(lib.ghostty_render_state_update(state, self._terminal._t[0]))
        dirty = ffi.new("GhosttyRenderStateDirty*")
        _check(lib.ghostty_render_state_get(state, lib.GHOSTTY_RENDER_STATE_DATA_DIRTY, dirty))
        everything = dirty[0] == lib.GHOSTTY_RENDER_STATE_DIRTY_FULL
        _check(lib.ghostty_render_state_get(state, lib.GHOSTTY_RENDER_STATE_DATA_ROW_ITERATOR, self._iterator))
        iterator = self._iterator[0]
        changed = ffi.new("bool*")
        for number in range(self.rows):
            if not lib.ghostty_render_state_row_iterator_next(iterator):
                break
            _check(lib.ghostty_render_state_row_get(iterator, lib.GHOSTTY_RENDER_STATE_ROW_DATA_DIRTY, changed))
            if everything or changed[0]:
                row = self._row(iterator)
                if row != self._shown[number]:
                    self._shown[number] = row
                    self._dirty.add(number)
        _check(lib.ghostty_render_state_clean(state))

    def _row(self, iterator: Any) -> tuple[Span, ...]:
        """Read the row at which the iterator is."""
        _check(lib.ghostty_render_state_row_get(iterator, lib.GHOSTTY_RENDER_STATE_ROW_DATA_CELLS_RAW, self._view))
        texts = [self._plain_cells[raw] for raw in ffi.unpack(self._view.ptr, self._view.len)]
        if None not in texts:
            text = "".join(texts).rstrip(" ")
            return (Span(text),) if text else ()
        _check(lib.ghostty_render_state_row_get(iterator, lib.GHOSTTY_RENDER_STATE_ROW_DATA_CELLS, self._cells))
        return joined(self._reading.cells(self._cells[0]))


class _PlainCells(dict[int, Any]):
    """The texts of cells by their raw values; None for a cell that has more to it than one character."""

    # The characters of a script and then some; a program that shows more has them read again.
    MOST = 8192

    def __missing__(self, raw: int) -> str | None:
        if len(self) >= self.MOST:
            self.clear()
        kind, wide, styled = ffi.new("GhosttyCellContentTag*"), ffi.new("GhosttyCellWide*"), ffi.new("bool*")
        code = ffi.new("uint32_t*")
        for key, value in (
            (lib.GHOSTTY_CELL_DATA_CONTENT_TAG, kind),
            (lib.GHOSTTY_CELL_DATA_WIDE, wide),
            (lib.GHOSTTY_CELL_DATA_HAS_STYLING, styled),
            (lib.GHOSTTY_CELL_DATA_CODEPOINT, code),
        ):
            _check(lib.ghostty_cell_get(raw, key, value))
        found = None
        if kind[0] == lib.GHOSTTY_CELL_CONTENT_CODEPOINT and not styled[0]:
            is_tail = wide[0] == lib.GHOSTTY_CELL_WIDE_SPACER_TAIL
            found = chr(code[0]) if code[0] else "" if is_tail else " "
        self[raw] = found
        return found


class _CellReading:
    """Reads the cells of a row with one call for each, into buffers that are made once."""

    def __init__(self) -> None:
        self._raw = ffi.new("GhosttyCell*")
        self._styled = ffi.new("bool*")
        self._length = ffi.new("uint32_t*")
        self._codes = ffi.new("uint32_t[]", _GRAPHEME_BYTES)
        self._style = ffi.new("GhosttyStyle*")
        self._style.size = ffi.sizeof("GhosttyStyle")
        self._wide = ffi.new("GhosttyCellWide*")
        prefix = "GHOSTTY_RENDER_STATE_ROW_CELLS_DATA_"
        keys = [getattr(lib, prefix + name) for name in ("RAW", "HAS_STYLING", "GRAPHEMES_LEN")]
        self._keys = ffi.new("GhosttyRenderStateRowCellsData[]", keys)
        self._values = ffi.new("void*[]", [self._raw, self._styled, self._length])
        self._codes_key = getattr(lib, prefix + "GRAPHEMES_BUF")
        self._style_key = getattr(lib, prefix + "STYLE")

    def cells(self, row: Any) -> list[tuple[str, Style]]:
        found: list[tuple[str, Style]] = []
        following, read = lib.ghostty_render_state_row_cells_next, lib.ghostty_render_state_row_cells_get_multi
        keys, values, length, styled = self._keys, self._values, self._length, self._styled
        while following(row):
            _check(read(row, 3, keys, values, ffi.NULL))
            count = length[0]
            if not count and not styled[0]:
                if not self._is_spacer():
                    found.append((" ", PLAIN))
                continue
            style = self._style_of(row) if styled[0] else PLAIN
            if count:
                found.append((self._text(row, count), style))
            elif not self._is_spacer():
                found.append((" ", style))
        return found

    def _text(self, row: Any, count: int) -> str:
        if count > _GRAPHEME_BYTES:
            # No script has a character of so many marks; the program shows garbage.
            return "\ufffd"
        _check(lib.ghostty_render_state_row_cells_get(row, self._codes_key, self._codes))
        return "".join(map(chr, self._codes[0:count]))

    def _is_spacer(self) -> bool:
        """Whether the cell is the second half of a wide character."""
        _check(lib.ghostty_cell_get(self._raw[0], lib.GHOSTTY_CELL_DATA_WIDE, self._wide))
        return bool(self._wide[0] == lib.GHOSTTY_CELL_WIDE_SPACER_TAIL)

    def _style_of(self, row: Any) -> Style:
        _check(lib.ghostty_render_state_row_cells_get(row, self._style_key, self._style))
        style = self._style
        return Style(
            fg=_colour(style.fg_color),
            bg=_colour(style.bg_color),
            bold=style.bold,
            italic=style.italic,
            underline=style.underline != 0,
            inverse=style.inverse,
            faint=style.faint,
            strike=style.strikethrough,
        )


def _colour(colour: Any) -> int | str | None:
    if colour.tag == lib.GHOSTTY_STYLE_COLOR_PALETTE:
        return int(colour.value.palette)
    if colour.tag == lib.GHOSTTY_STYLE_COLOR_RGB:
        rgb = colour.value.rgb
        return f"#{rgb.r:02x}{rgb.g:02x}{rgb.b:02x}"
    return None


def _made(kind: str, make: Any) -> Any:
    pointer = ffi.new(f"{kind}*")
    _check(make(ffi.NULL, pointer))
    return pointer


def _check(result: int) -> None:
    if result:
        raise MemoryError(f"libghostty-vt answered {result}")
