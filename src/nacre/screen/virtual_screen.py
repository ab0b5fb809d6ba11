"""The interface of a screen, and the choice of the emulator behind it."""

from __future__ import annotations

import importlib.util
from typing import Any, Literal, NamedTuple, Protocol

from nacre.errors import InvalidRequestError, NacreError, shown

Emulator = Literal["auto", "ghostty", "pyte"]

# What a viewer may ask for; an emulator allocates a cell for each.
LEAST_COLUMNS, MOST_COLUMNS = 2, 500
LEAST_ROWS, MOST_ROWS = 1, 300

INSTALL = "no terminal emulator is installed; install nacre-shell[screen]"


class ScreenUnavailableError(NacreError):
    """No emulator is installed."""


class Style(NamedTuple):
    """How text looks. A colour is None (the default), a number of the palette (0 to 255) or "#rrggbb"."""

    fg: int | str | None = None
    bg: int | str | None = None
    bold: bool = False
    italic: bool = False
    underline: bool = False
    inverse: bool = False
    faint: bool = False
    strike: bool = False


PLAIN = Style()


class Span(NamedTuple):
    """Neighbouring characters of one style."""

    text: str
    style: Style = PLAIN


class Cursor(NamedTuple):
    column: int
    row: int
    visible: bool


class Modes(NamedTuple):
    """What the program has switched on; keys, paste and mouse are encoded by it."""

    alternate: bool = False
    """The alternate screen: a full-screen program."""
    application_cursor: bool = False
    bracketed_paste: bool = False
    mouse: bool = False
    kitty: int = 0
    """The flags of the kitty keyboard protocol."""


class VirtualScreen(Protocol):
    """A screen of a fixed size; memory is bounded by it."""

    emulator: str
    columns: int
    rows: int

    def feed(self, data: bytes) -> None:
        """Show what the program has written. Sequences may be split over calls; nothing that comes raises."""

    def resize(self, columns: int, rows: int) -> None: ...

    def text(self) -> list[str]:
        """Return every row, without trailing blanks."""

    def row(self, number: int) -> tuple[Span, ...]:
        """Return a row as styled text, without trailing unstyled blanks."""

    def take_dirty(self) -> set[int]:
        """Return the rows that changed since the last call; all of them at first."""

    @property
    def cursor(self) -> Cursor: ...

    @property
    def title(self) -> str: ...

    @property
    def modes(self) -> Modes: ...


class ShownRows:
    """The rows that an emulator shows, and which of them changed; `_refresh` brings them up to date."""

    _shown: list[tuple[Span, ...]]
    _dirty: set[int]

    def _refresh(self) -> None:
        raise NotImplementedError

    def text(self) -> list[str]:
        self._refresh()
        return ["".join(span.text for span in row).rstrip(" ") for row in self._shown]

    def row(self, number: int) -> tuple[Span, ...]:
        self._refresh()
        return self._shown[number]

    def take_dirty(self) -> set[int]:
        self._refresh()
        dirty, self._dirty = self._dirty, set()
        return dirty


def open_screen(columns: int, rows: int, *, emulator: Emulator = "auto") -> VirtualScreen:
    """Make an empty screen.

    Raises:
        ScreenUnavailableError: the emulator, or any where none is named, is not installed.
    """
    columns, rows = check_size(columns, rows)
    if emulator in ("auto", "ghostty") and importlib.util.find_spec("pyghostty") is not None:
        try:
            from nacre.screen.ghostty_screen import GhosttyScreen
        except OSError as error:
            # The library of the wheel does not load on this system.
            if emulator == "ghostty":
                raise ScreenUnavailableError(f"pyghostty is installed and does not load: {error}") from error
        else:
            return GhosttyScreen(columns, rows)
    if emulator in ("auto", "pyte") and importlib.util.find_spec("pyte") is not None:
        from nacre.screen.pyte_screen import PyteScreen

        return PyteScreen(columns, rows)
    raise ScreenUnavailableError(INSTALL)


def has_emulator() -> bool:
    """Return whether a screen can be had."""
    return any(importlib.util.find_spec(name) is not None for name in ("pyghostty", "pyte"))


def check_size(columns: Any, rows: Any) -> tuple[int, int]:
    """Return the size, or refuse one that no terminal has."""
    for name, value, least, most in (
        ("columns", columns, LEAST_COLUMNS, MOST_COLUMNS),
        ("rows", rows, LEAST_ROWS, MOST_ROWS),
    ):
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise InvalidRequestError(f"{name} must be a number from {least} to {most}, got {shown(value)}", field=name)
    return columns, rows


def joined(cells: list[tuple[str, Style]]) -> tuple[Span, ...]:
    """Return cells as spans, without trailing unstyled blanks."""
    while cells and not cells[-1][0].strip(" ") and cells[-1][1] == PLAIN:
        cells.pop()
    spans: list[Span] = []
    begin = 0
    for at in range(1, len(cells) + 1):
        if at == len(cells) or cells[at][1] != cells[begin][1]:
            spans.append(Span("".join(text for text, _ in cells[begin:at]), cells[begin][1]))
            begin = at
    return tuple(spans)
