"""All keys on one page."""

from __future__ import annotations

from typing import ClassVar

from rich.console import Group
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

KEYS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "The line at the bottom",
        (
            ("!cmd", "runs a command; the selected agent reads it, once"),
            ("!!cmd", "runs a command that no agent reads"),
            ("cd DIR", "moves your session"),
            ("/text", "searches; n and N go to the next and the earlier place"),
            ("↑ ↓", "earlier and later lines"),
            ("Tab  →", "completes a program or path; takes the suggestion"),
            ("Ctrl+C", "stops your running command"),
            ("Esc", "goes to the transcript"),
        ),
    ),
    (
        "The transcript",
        (
            ("↑ ↓  j k", "selects a call"),
            ("o  Enter", "unfolds the whole output, or folds it"),
            ("c", "folds the command, or unfolds it"),
            ("s", "stops the selected call"),
            ("t", "opens its console, if it runs on a terminal"),
            ("y", "copies command and output"),
            ("g  G", "first and newest call"),
            ("1 2 3", "density: commands only, folded output, everything"),
            ("!  /  i", "goes to the line"),
        ),
    ),
    (
        "Everywhere",
        (
            ("F1", "this page"),
            ("F2", "jobs: Enter whole log, i types a line, t console, s stops"),
            ("F3", "selects the next agent"),
            ("F4", "answers the open question"),
            ("F5", "opens the console of a call on a terminal"),
            ("Ctrl+T", "light and dark"),
            ("Ctrl+Q", "ends the console; agents and jobs go on"),
        ),
    ),
)


class HelpScreen(ModalScreen[None]):
    """The keys of the console."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,f1,q,enter", "dismiss", "Close")]
    DEFAULT_CSS = """
    HelpScreen { align: center middle; background: $background 60%; }
    HelpScreen > VerticalScroll {
        width: 90; max-width: 100%; height: auto; max-height: 100%; padding: 0 2; background: $surface;
        border: round $primary; border-title-color: $primary; border-title-style: bold;
        border-subtitle-color: $foreground 60%; scrollbar-size-vertical: 1;
        scrollbar-color: $panel; scrollbar-background: $surface; scrollbar-color-hover: $primary;
        scrollbar-background-hover: $surface; scrollbar-color-active: $primary; scrollbar-background-active: $surface;
    }
    """

    def compose(self) -> ComposeResult:
        with VerticalScroll() as box:
            box.border_title = "Keys"
            box.border_subtitle = "↑ ↓ scroll · Esc closes"
            yield Static(_page(self.app.theme_variables.get("primary", "")))

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()


def _page(colour: str) -> Group:
    width = max(len(key) for _, keys in KEYS for key, _ in keys) + 1
    parts: list[Text | Table] = []
    for title, keys in KEYS:
        page = Table.grid(padding=(0, 2))
        page.add_column(no_wrap=True, style="bold", width=width)
        page.add_column()
        for key, meaning in keys:
            page.add_row(f" {key}", meaning)
        parts += [Text(title, f"bold {colour}"), page, Text()]
    return Group(*parts[:-1])
