"""The overlay titled Console: a terminal run in front of everything else, with its command and its state."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from nacre.tui.console import Console, Escape, Terminal

TITLE = "Console"
_KEYS = {
    "kill": "esc force-kill · ctrl+] detach (it goes on as a job) · input forwarded",
    "double": "esc esc force-kill · esc forwarded · ctrl+] detach (it goes on as a job) · input forwarded",
}
LOOK_SECONDS = 0.2
FINISHED = "session finished · esc closes"


class ConsoleOverlay(ModalScreen[str]):
    """A terminal run; the result is `killed`, `detached` or `finished`."""

    DEFAULT_CSS = """
    ConsoleOverlay { align: center middle; background: $background 60%; }
    ConsoleOverlay > Vertical { width: 100%; height: 100%; border: round $primary; background: $background; }
    ConsoleOverlay .console--head { height: 1; padding: 0 1; background: $panel; }
    ConsoleOverlay .console--keys { height: 1; padding: 0 1; color: $foreground 60%; background: $surface; }
    """

    def __init__(
        self,
        terminal: Terminal,
        *,
        command: str,
        kill: Callable[[], None],
        state: Callable[[], str] = lambda: "exited",
        escape: Escape = "kill",
    ) -> None:
        """Show a terminal run.

        Args:
            kill: ends the program.
            state: tells how a program that has ended did so, for the title: `exit 0`, `timed out`, `killed`.
        """
        super().__init__()
        self._terminal = terminal
        self._command = command
        self._kill = kill
        self._state = state
        self._escape: Escape = escape
        self._killed = False

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(classes="console--head")
            yield Console(self._terminal, escape=self._escape)
            yield Static(_KEYS[self._escape], classes="console--keys")

    def on_mount(self) -> None:
        self.query_one(Console).focus()
        self._show("running")

    def on_unmount(self) -> None:
        self._terminal.close()

    def _show(self, state: str) -> None:
        line = Text(no_wrap=True, overflow="ellipsis")
        line.append(f"▣ {TITLE} ", "bold")
        line.append(f"[{state}] ", "bold")
        line.append("$ " + " ".join(self._command.split()))
        self.query_one(".console--head", Static).update(line)

    def on_console_killed(self) -> None:
        """End the program; closing the console ends it."""
        self._killed = True
        self._kill()
        self.dismiss("killed")

    def on_console_detached(self) -> None:
        self.dismiss("finished" if self._terminal.ended else "detached")

    def on_console_finished(self) -> None:
        self.query_one(".console--keys", Static).update(FINISHED)
        self._tell_end()
        # How it ended may be told a moment later than that it did.
        self.set_interval(LOOK_SECONDS, self._tell_end)

    def _tell_end(self) -> None:
        self._show("killed" if self._killed else self._state())
