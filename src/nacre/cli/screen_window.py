"""A screen in memory, drawn on the terminal that nacre runs in: its rows from the top, one line of ours below them."""

from __future__ import annotations

from nacre.cli.own_terminal import OwnTerminal
from nacre.screen import VirtualScreen
from nacre.screen.painting import RESET, mode_changes, painted_row
from nacre.screen.virtual_screen import Modes

# The alternate screen, so that what was shown before comes back.
_OPEN, _CLOSE = "\x1b[?1049h\x1b[2J", "\x1b[?1049l"
_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"


class ScreenWindow:
    """Draws changed rows only, and nothing while the terminal has no room."""

    def __init__(self, terminal: OwnTerminal) -> None:
        self._terminal = terminal
        self._modes = Modes()
        self._line = ""
        self._place = (0, 0)
        self._rows: dict[int, str] = {}
        terminal.show(_OPEN.encode())

    def draw(self, screen: VirtualScreen, line: str, *, columns: int, rows: int) -> None:
        """Show the screen, cut to the terminal's size, and a line at the bottom."""
        if not self._terminal.room:
            return  # a slow terminal: the rows stay dirty
        if (columns, rows) != self._place:
            self._place, self._rows, self._line = (columns, rows), {}, ""
            self._terminal.show(b"\x1b[2J")
            changed = set(range(screen.rows))
            screen.take_dirty()
        else:
            changed = screen.take_dirty()
        written = [self._row(screen, number) for number in sorted(changed) if number < rows - 1]
        if line != self._line:
            self._line = line
            written.append(f"\x1b[{rows};1H\x1b[0;7m{line[: columns - 1].ljust(columns - 1)}{RESET}")
        written.append(mode_changes(self._modes, screen.modes))
        self._modes = screen.modes
        cursor = screen.cursor
        seen = cursor.visible and cursor.row < rows - 1
        at = f"\x1b[{cursor.row + 1};{cursor.column + 1}H{_SHOW}" if seen else _HIDE
        self._terminal.show(f"{_HIDE}{''.join(written)}{at}".encode())

    def _row(self, screen: VirtualScreen, number: int) -> str:
        row = painted_row(screen.row(number))
        if self._rows.get(number) == row:
            return ""
        self._rows[number] = row
        return f"\x1b[{number + 1};1H{row}"

    def close(self) -> None:
        """Give the screen back that was there before."""
        self._terminal.show((mode_changes(self._modes, Modes()) + _SHOW + _CLOSE).encode())
