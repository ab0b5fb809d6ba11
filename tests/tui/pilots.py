"""Drives the console in a test: waits for what is shown, not for a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from textual.app import App
from textual.pilot import Pilot

from nacre.tui.application import NacreApp

PATIENCE_SECONDS = 30.0


async def until(pilot: Pilot[Any], condition: Callable[[], object]) -> None:
    """Wait until a condition holds, giving the app its turns."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():
            await pilot.pause(0.01)


def screen_text(app: App[Any]) -> str:
    """What stands on the screen, row by row, without trailing blanks."""
    height = app.size.height
    rows = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in rows[:height])


@asynccontextmanager
async def console(size: tuple[int, int] = (100, 30), **options: Any) -> AsyncIterator[tuple[NacreApp, Pilot[None]]]:
    """Run the console until it follows the agents."""
    app = NacreApp(**options)
    async with app.run_test(size=size, notifications=True) as pilot:
        await app.calls.following.wait()
        yield app, pilot


async def type_line(app: NacreApp, pilot: Pilot[None], line: str) -> None:
    """Type a line at the bottom and press Enter."""
    typed = app.query_one("#typed")
    typed.focus()
    typed.value = line  # type: ignore[attr-defined]
    await pilot.press("enter")


async def shows(app: NacreApp, pilot: Pilot[None], *texts: str) -> str:
    """Wait until all of the texts are on the screen; returns the screen."""
    try:
        await until(pilot, lambda: all(text in screen_text(app) for text in texts))
    except TimeoutError:
        raise AssertionError(f"{texts} are not all on the screen:\n{screen_text(app)}") from None
    return screen_text(app)
