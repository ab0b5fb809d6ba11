"""The overlay titled Console: a terminal run in front of everything else, with its command and its state."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from nacre.feed.folding import cut_to
from nacre.tui.console import Console, Escape, Terminal

TITLE = "Console"
_KEYS = {
    "kill": "esc force-kill · ctrl+] detach, it goes on as a job · input forwarded",
    "double": "esc esc force-kill · ctrl+] detach, it goes on as a job · input forwarded",
}
LOOK_SECONDS = 0.2
FINISHED = "session finished · esc closes"


class ConsoleOverlay(ModalScreen[str]):
    """A terminal run; the result is `killed`, `detached` or `finished`."""

    DEFAULT_CSS = """
    ConsoleOverlay { align: center middle; background: $background; }
    ConsoleOverlay > Vertical {
        width: 100%; height: 100%; border: round $primary; background: $background;
        border-title-color: $foreground; border-subtitle-color: $foreground 70%;
    }
    ConsoleOverlay > Vertical.-over { border: round $foreground 40%; }
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
        with Vertical() as box:
            box.border_subtitle = _KEYS[self._escape]
            yield Console(self._terminal, escape=self._escape)

    def on_mount(self) -> None:
        self.query_one(Console).focus()
        self._show("running")

    def on_unmount(self) -> None:
        self._terminal.close()

    def _show(self, state: str) -> None:
        head = f"{TITLE} [{state}] "
        command = cut_to("$ " + " ".join(self._command.split()), max(10, self.size.width - len(head) - 6))
        # Content, not markup: a command may hold brackets.
        self.query_one(Vertical).border_title = Content.assemble((head, "bold"), command)

    def on_console_killed(self) -> None:
        """End the program; closing the console ends it."""
        self._killed = True
        self._kill()
        self.dismiss("killed")

    def on_console_detached(self) -> None:
        self.dismiss("finished" if self._terminal.ended else "detached")

    def on_console_finished(self) -> None:
        box = self.query_one(Vertical)
        box.border_subtitle = FINISHED
        box.add_class("-over")
        self._tell_end()
        # How it ended may be told a moment later than that it did.
        self.set_interval(LOOK_SECONDS, self._tell_end)

    def _tell_end(self) -> None:
        self._show("killed" if self._killed else self._state())
