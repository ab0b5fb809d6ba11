"""The two colour themes of the console: light and dark, with the same contrast."""

from __future__ import annotations

from textual.theme import Theme

# The greys have so little colour that a terminal of 256 colours shows them as greys, not as navy blue.
DARK = Theme(
    name="nacre-dark",
    dark=True,
    primary="#7aa2d6",
    secondary="#b39ddb",
    accent="#8fd3c8",
    success="#8cc98f",
    warning="#e5c07b",
    error="#ec8a8a",
    foreground="#d8dce3",
    background="#17191e",
    surface="#1d2026",
    panel="#262a31",
    variables={"input-selection-background": "#7aa2d6 35%"},
)

LIGHT = Theme(
    name="nacre-light",
    dark=False,
    primary="#2f5f9e",
    secondary="#6a4fa3",
    accent="#0f6e63",
    success="#2b7a3a",
    warning="#8a5a00",
    error="#b3302f",
    foreground="#22262d",
    background="#fbfbf9",
    surface="#f3f3f0",
    panel="#e6e7e3",
    variables={"input-selection-background": "#2f5f9e 25%"},
)
