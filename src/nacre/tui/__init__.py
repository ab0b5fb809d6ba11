"""The console for people, and its widgets for programs of their own (extra `tui`): cards, console, jobs, transcript."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nacre.feed.card import Card
    from nacre.tui.command_card import CommandCard
    from nacre.tui.console import Console, Terminal
    from nacre.tui.console_overlay import ConsoleOverlay
    from nacre.tui.jobs_panel import JobsPanel
    from nacre.tui.output_screen import OutputScreen
    from nacre.tui.themes import DARK, LIGHT
    from nacre.tui.transcript_view import TranscriptView

__all__ = [
    "DARK",
    "LIGHT",
    "Card",
    "CommandCard",
    "Console",
    "ConsoleOverlay",
    "JobsPanel",
    "OutputScreen",
    "Terminal",
    "TranscriptView",
]

# The plain console does without Textual, so each widget is loaded when it is asked for.
_HOMES = {
    "Card": "nacre.feed.card",
    "CommandCard": "nacre.tui.command_card",
    "Console": "nacre.tui.console",
    "ConsoleOverlay": "nacre.tui.console_overlay",
    "DARK": "nacre.tui.themes",
    "JobsPanel": "nacre.tui.jobs_panel",
    "LIGHT": "nacre.tui.themes",
    "OutputScreen": "nacre.tui.output_screen",
    "Terminal": "nacre.tui.console",
    "TranscriptView": "nacre.tui.transcript_view",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
