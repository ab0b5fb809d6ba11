"""The styles of cards: component classes that a stylesheet may set, for every widget that shows cards."""

from __future__ import annotations

from rich.style import Style
from textual.widget import Widget

from nacre.feed.card_rows import SIGNS
from nacre.tui.card_view import Palette

_PARTS = ("text", "dim", "command", "notice", "question", "risk", "match")
# Styles that have a background of their own.
_FILLED = ("question", "risk", "match")

CARD_CLASSES = {f"card--{name}" for name in (*_PARTS, *SIGNS)}

_CSS = """
{0} > .card--text {{ color: $foreground 88%; }}
{0} > .card--dim {{ color: $foreground 55%; }}
{0} > .card--command {{ color: $foreground; text-style: bold; }}
{0} > .card--notice {{ color: $warning; }}
{0} > .card--question {{ color: $foreground; background: $warning 25%; text-style: bold; }}
{0} > .card--risk {{ color: $background; background: $error; text-style: bold; }}
{0} > .card--match {{ color: $background; background: $warning; }}
{0} > .card--preview {{ color: $foreground 55%; }}
{0} > .card--running {{ color: $primary; }}
{0} > .card--waiting, {0} > .card--asking, {0} > .card--timedOut {{ color: $warning; }}
{0} > .card--succeeded {{ color: $success; }}
{0} > .card--failed, {0} > .card--denied, {0} > .card--error {{ color: $error; }}
{0} > .card--cancelled {{ color: $secondary; }}
"""


def card_css(widget: str) -> str:
    """Return the default rules for a widget that shows cards."""
    return _CSS.format(widget)


def card_palette(widget: Widget) -> Palette:
    """Return the styles that the stylesheet gives the cards of a widget."""
    palette = {}
    for name in (*_PARTS, *SIGNS):
        style = widget.get_component_rich_style(f"card--{name}")
        palette[name] = style if name in _FILLED else Style(color=style.color, bold=style.bold)
    return palette
