"""Floods in a card and in a console: keys are answered while they run, and memory stays bounded."""

from __future__ import annotations

import asyncio
import resource
from pathlib import Path
from typing import Any

import pytest
from tests.tui.pilots import console, screen_text, shows, until

import nacre
from nacre.tui.console_overlay import ConsoleOverlay

pytestmark = pytest.mark.slow


def _peak_mebibytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@pytest.mark.parts
async def test_keys_reach_a_program_whose_terminal_is_flooded(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    command = f'yes & while IFS= read -rsn1 key; do printf %s "$key" >> {keys}; done'
    async with console() as (app, pilot), nacre.Tool("workspace", cwd=tmp_path) as tool:
        call = asyncio.create_task(tool.call({"command": command, "pty": True}))
        await shows(app, pilot, "Console [running]", "│y")
        before = _peak_mebibytes()
        for key in "every key":
            await pilot.press("space" if key == " " else key)
        await until(pilot, lambda: keys.exists() and len(keys.read_text(encoding="utf-8")) >= 9)
        assert keys.read_text(encoding="utf-8") == "every key"
        output: Any = app.screen.query_one("Console")
        path = Path(output.terminal.job.output_file)
        await until(pilot, lambda: path.stat().st_size > 32 * 1024 * 1024)
        assert _peak_mebibytes() - before < 48
        # Esc is the console's own key: the program and the flood end.
        await pilot.press("escape")
        await call
        await until(pilot, lambda: not isinstance(app.screen, ConsoleOverlay))


async def test_a_card_holds_a_bounded_part_of_a_flood(tmp_path: Path) -> None:
    async with console() as (app, pilot), nacre.Tool("workspace", cwd=tmp_path) as tool:
        command = "yes | head -c 64M; until [ -e go ]; do sleep 0.02; done"
        call = asyncio.create_task(tool.call({"command": command}))
        await shows(app, pilot, "y\n", "running")
        await pilot.press(*"typing")
        assert "typing" in screen_text(app)
        (tmp_path / "go").touch()
        await call
        await shows(app, pilot, "exit 0", "artifact")
        assert sum(len(card.tail.text) for card in app.transcript.cards) <= 512 * 1024
