"""A small agent with a face: each command of the agent is a card that fills while it runs.

The "model" here is a list of commands; put yours in its place. Needs the extra: pip install 'nacre-shell[tui]'.
"""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Footer

import nacre
from nacre.tui import Card, CommandCard, JobsPanel

COMMANDS = ("uname -sr", "seq 100", "ls /nonexistent")


class SmallAgent(App[None]):
    """Runs commands and shows each as a card; `o` unfolds an output."""

    CSS = "JobsPanel { height: 8; }"

    def compose(self) -> ComposeResult:
        yield VerticalScroll()
        self.tool = nacre.Tool("workspace")
        yield JobsPanel(self.tool.engine.jobs)
        yield Footer()

    def on_mount(self) -> None:
        self.run_worker(self.work())

    async def work(self) -> None:
        """Ask the model for a command, run it, show it, until there is none left."""
        for number, command in enumerate(COMMANDS):
            card = CommandCard(Card(call=f"call-{number}", command=command))
            await self.query_one(VerticalScroll).mount(card)
            await card.follow(self.tool.stream({"command": command}))

    async def on_unmount(self) -> None:
        await self.tool.aclose()


if __name__ == "__main__":
    SmallAgent().run()
