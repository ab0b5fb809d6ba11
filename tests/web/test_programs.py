"""The programs that every viewer is tried with, used at the terminal of the page in a real Chromium."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nacre
from terminals.programs import LEAVING, PROGRAMS, SSH_STEPS, Program, Step, ssh_server
from web.chromium import Window
from web.test_browser import SCREEN, browser, page, pytestmark, started, window

__all__ = ["browser", "page", "pytestmark", "window"]

# Keys as tmux names them, which the table of programs does.
NAMES = {"Up": "ArrowUp", "Down": "ArrowDown", "BSpace": "Backspace"}


async def press(window: Window, key: str) -> None:
    if len(key) == 1:
        await window.type(key)
    elif key.startswith("C-"):
        await window.key(key[2:], ctrl=True)
    else:
        await window.key(NAMES.get(key, key))


async def use(window: Window, steps: tuple[Step, ...], never_shows: str) -> None:
    for step in steps:
        await window.until(f"({SCREEN} + '\\n').includes({json.dumps(step.shows)})")
        await window.type(step.types)
        for key in step.keys:
            await press(window, key)
        assert never_shows not in await window.run(SCREEN)


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
async def test_a_program_is_used_in_the_page(program: Program, window: Window, tmp_path: Path) -> None:
    async with nacre.Tool("workspace", cwd=tmp_path) as tool:
        await started(tool, program.prepare(tmp_path))
        await window.press_button("Terminal", "#jobs")
        await use(window, program.steps, program.never_shows)
        for key in LEAVING.get(program.name, ()):
            await press(window, key)
        await window.until("document.getElementById('terminal-state').textContent === 'exit code 0'")


async def test_ssh_asks_about_a_host_key_in_the_page(window: Window, tmp_path: Path) -> None:
    with ssh_server(tmp_path) as command:
        async with nacre.Tool("workspace", cwd=tmp_path) as tool:
            await started(tool, command)
            await window.shows("It waits for input: Are you sure you want to continue connecting")
            await window.press_button("Terminal", "#jobs")
            await use(window, SSH_STEPS, "\0")
            await press(window, "C-d")
            await window.until("document.getElementById('terminal-state').textContent === 'exit code 0'")


async def test_stopping_a_program_in_the_page_leaves_nothing_alive(window: Window, tmp_path: Path) -> None:
    """The fixture that looks for processes left behind by a test finds none."""
    async with nacre.Tool("workspace", cwd=tmp_path) as tool:
        await started(tool, "trap '' HUP TERM; setsid -f sleep 600; nohup sleep 601 & sleep 602 & echo up; sleep 603")
        await window.press_button("Terminal", "#jobs")
        await window.until(f"{SCREEN}.includes('up')")
        await window.press_button("Stop the program", "#terminal")
        await window.until("document.getElementById('terminal-state').textContent === 'stopped on request'")
