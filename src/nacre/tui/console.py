"""The console: a widget that shows the screen of a running terminal and sends keys, paste, mouse and size to it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Protocol

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import events
from textual.geometry import Offset, Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from nacre.errors import NacreError
from nacre.screen import encode_mouse

if TYPE_CHECKING:
    from nacre.screen import Style, VirtualScreen
    from nacre.screen.keys import MouseAction

Escape = Literal["kill", "double"]

# Reads of the terminal's output a second; what comes in between is drawn once.
FRAMES = 30
# After taking output the keys have so much more time than that took: a flood leaves most of it to them.
REST = 5
# Two Esc within this time end the program, where one is forwarded.
DOUBLE_SECONDS = 0.5
# As small as a program on a terminal can be expected to work with.
LEAST_COLUMNS, LEAST_ROWS = 20, 5
MOST_COLUMNS, MOST_ROWS = 400, 200
DETACH_KEYS = ("ctrl+right_square_bracket", "ctrl+]")


class Terminal(Protocol):
    """A terminal that runs (`nacre.jobs.terminal_view.TerminalView`, or a program's own)."""

    @property
    def screen(self) -> VirtualScreen: ...
    @property
    def ended(self) -> bool: ...
    def update(self) -> bool:
        """Read what is new; True if the screen changed."""

    def press(self, key: str) -> None: ...
    def paste(self, text: str) -> None: ...
    def write(self, data: bytes) -> None: ...
    def resize(self, columns: int, rows: int) -> None: ...
    def close(self) -> None:
        """Give back what it holds open; `ConsoleOverlay` calls it at its end."""


class Console(Widget, can_focus=True):
    """The screen of a terminal.

    Most of its methods are the handlers that Textual calls by name.
    """

    DEFAULT_CSS = """
    Console { width: 1fr; height: 1fr; background: $background; color: $foreground; }
    """

    class Killed(Message):
        """The person asked for the end of the program."""

    class Detached(Message):
        """The person leaves the program running."""

    class Finished(Message):
        """The program has ended."""

    def __init__(self, terminal: Terminal, *, escape: Escape = "kill", id: str | None = None) -> None:
        """Show a terminal.

        Args:
            escape: `kill` ends the program at Esc; `double` forwards one Esc and ends the program at two.
        """
        super().__init__(id=id)
        self.terminal = terminal
        self._escape = escape
        self._escaped_at = -DOUBLE_SECONDS
        self._ended = False
        self._rest_until = 0.0

    def on_mount(self) -> None:
        self.set_interval(1 / FRAMES, self._update)

    def on_resize(self, event: events.Resize) -> None:
        columns = min(MOST_COLUMNS, max(LEAST_COLUMNS, event.size.width))
        rows = min(MOST_ROWS, max(LEAST_ROWS, event.size.height))
        self._send(self.terminal.resize, columns, rows)
        self.refresh()

    def _update(self) -> None:
        terminal = self.terminal
        began = time.monotonic()
        if began < self._rest_until:
            return
        if terminal.update():
            now = time.monotonic()
            self._rest_until = now + REST * (now - began)
            width = self.size.width
            self.refresh(*(Region(0, row, width, 1) for row in terminal.screen.take_dirty()))
            self._place_cursor()
        if terminal.ended and not self._ended:
            self._ended = True
            self.refresh()
            self.post_message(self.Finished())

    def _place_cursor(self) -> None:
        """Put the terminal's own cursor where the program's is: input methods show their candidates there."""
        cursor = self.terminal.screen.cursor
        if self.has_focus and cursor.visible:
            self.app.cursor_position = self.content_region.offset + Offset(cursor.column, cursor.row)
            self.refresh(Region(0, cursor.row, self.size.width, 1))

    def render_line(self, y: int) -> Strip:
        screen = self.terminal.screen
        base = self.rich_style
        width = self.size.width
        if y >= screen.rows:
            return Strip.blank(width, base)
        segments = [Segment(span.text, base + _rich_style(span.style)) for span in screen.row(y)]
        strip = Strip(segments).extend_cell_length(width, base).crop(0, width)
        cursor = screen.cursor
        if cursor.visible and cursor.row == y and not self._ended and self.has_focus and cursor.column < width:
            at = cursor.column
            cell = strip.crop(at, at + 1)
            strip = Strip.join([strip.crop(0, at), cell.apply_style(RichStyle(reverse=True)), strip.crop(at + 1)])
        return strip

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if self.terminal.ended:
            if event.key in ("escape", "enter", "q"):
                self.post_message(self.Detached())
            return
        if event.key in DETACH_KEYS:
            self.post_message(self.Detached())
        elif event.key == "escape" and self._ends():
            self.post_message(self.Killed())
        elif event.character is not None and event.is_printable:
            self._send(self.terminal.press, event.character)
        else:
            self._send(self.terminal.press, event.key)

    def _send(self, send: Callable[..., None], *values: object) -> None:
        """Send something to the program; one that does not read is named, one that has ended is not asked."""
        if self.terminal.ended:
            return
        try:
            send(*values)
        except NacreError as error:
            self.notify(str(error), severity="warning")

    def _ends(self) -> bool:
        """True if this Esc ends the program."""
        if self._escape == "kill":
            return True
        now = time.monotonic()
        again, self._escaped_at = now - self._escaped_at < DOUBLE_SECONDS, now
        return again

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self._send(self.terminal.paste, event.text)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._mouse("press", event)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self._mouse("release", event)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._mouse("scroll_up", event)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._mouse("scroll_down", event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if event.button:
            self._mouse("move", event)

    def _mouse(self, action: MouseAction, event: events.MouseEvent) -> None:
        event.stop()
        held = {"shift": event.shift, "ctrl": event.ctrl, "meta": event.meta}
        modifiers = frozenset(name for name, down in held.items() if down)
        data = encode_mouse(
            action, event.button, int(event.x), int(event.y), self.terminal.screen.modes, modifiers=modifiers
        )
        if data:
            self._send(self.terminal.write, data)


def _rich_style(style: Style) -> RichStyle:
    return RichStyle(
        color=_colour(style.fg),
        bgcolor=_colour(style.bg),
        bold=style.bold or None,
        italic=style.italic or None,
        underline=style.underline or None,
        reverse=style.inverse or None,
        dim=style.faint or None,
        strike=style.strike or None,
    )


def _colour(value: int | str | None) -> str | None:
    return f"color({value})" if isinstance(value, int) else value
