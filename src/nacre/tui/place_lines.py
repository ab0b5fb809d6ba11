"""The words about where the console is: its first row, and paths short enough for a row. Pure."""

from __future__ import annotations

import os

from rich.text import Text


def head_line(cwd: str, running: int, questions: int, width: int, *, follows: bool) -> Text:
    """Return the first row: where the console is, what runs and what waits."""
    parts = [f"{running} running" if running else "idle"]
    if questions:
        parts.append(f"{questions} waiting for you")
    if not follows:
        parts.append("scrolled back · G follows")
    right = " · ".join(parts)
    line = Text.assemble(("nacre", "bold"), " ", (shortened(cwd), "dim"))
    line.append(" " * max(1, width - 2 - line.cell_len - len(right)))
    line.append(right, "bold" if questions else "")
    return line


def shortened(path: str, room: int = 200) -> str:
    """Return a path with `~` for the home directory; only the end of a long one."""
    home = os.path.expanduser("~")
    short = f"~{path[len(home) :]}" if path == home or path.startswith(f"{home}/") else path
    return short if len(short) <= room else f"…{short[-room + 1 :]}"
