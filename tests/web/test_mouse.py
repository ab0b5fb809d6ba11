"""The mouse, keys and pasted text reach a program in the page as it asked for them."""

from __future__ import annotations

import sys
from pathlib import Path

import nacre
from web.chromium import Point, Window
from web.test_browser import browser, page, pytestmark, started, until_screen, window

__all__ = ["browser", "page", "pytestmark", "window"]

# Asks for what its arguments say, and shows what it reads.
READER = r"""
import os, sys, tty
tty.setraw(0)
os.write(1, b"\x1b[?1049h" + sys.argv[1].encode().decode("unicode_escape").encode() + b"ready")
seen = b""
while not seen.endswith(b"q"):
    seen += os.read(0, 1024)
    os.write(1, b"\x1b[2;1H\x1b[J" + repr(seen)[2:-1].encode() + b"|")
"""
MOUSE = r"\x1b[?1002h\x1b[?1006h"
APPLICATION = r"\x1b[?1h\x1b[?2004h"


async def read(window: Window, tmp_path: Path, tool: nacre.Tool, modes: str) -> None:
    """Start the reader, and open its terminal."""
    (tmp_path / "reader.py").write_text(READER, encoding="ascii")
    await started(tool, f"{sys.executable} reader.py '{modes}'")
    await window.press_button("Terminal", "#jobs")
    await until_screen(window, "ready")


async def leave(window: Window) -> None:
    await window.type("q")
    await window.until("document.getElementById('terminal-state').textContent === 'exit code 0'")


async def cell(window: Window, column: int, row: int) -> Point:
    """Return the middle of a cell, counted from 0."""
    x, y, width, height = await window.run(
        "(() => { const box = document.getElementById('terminal-screen').getBoundingClientRect();"
        " const cell = document.getElementById('terminal-cursor').getBoundingClientRect();"
        " return [box.x, box.y, cell.width, cell.height]; })()"
    )
    return x + (column + 0.5) * width, y + (row + 0.5) * height


async def turn(window: Window, point: Point, pixels: int) -> None:
    await window.mouse("mouseWheel", point, button="none", deltaX=0, deltaY=pixels)


async def test_a_program_gets_presses_drags_and_the_wheel(window: Window, tmp_path: Path) -> None:
    async with nacre.Tool("workspace", cwd=tmp_path) as tool:
        await read(window, tmp_path, tool, MOUSE)
        start, end = await cell(window, 10, 5), await cell(window, 12, 6)
        await window.mouse("mousePressed", start)
        await until_screen(window, r"\x1b[<0;11;6M|")
        await window.mouse("mouseMoved", end, buttons=1)
        await until_screen(window, r"\x1b[<0;11;6M\x1b[<32;13;7M|")
        await window.mouse("mouseReleased", end)
        await until_screen(window, r"\x1b[<32;13;7M\x1b[<0;13;7m|")
        await turn(window, start, 60)
        await until_screen(window, r"\x1b[<0;13;7m\x1b[<65;11;6M|")
        await turn(window, start, -60)
        await until_screen(window, r"\x1b[<65;11;6M\x1b[<64;11;6M|")
        # With Shift it is the browser's.
        for kind in ("mousePressed", "mouseReleased"):
            await window.mouse(kind, start, modifiers=8)
        await window.mouse("mousePressed", start, button="right")
        await window.mouse("mouseReleased", start, button="right")
        await until_screen(window, r"\x1b[<64;11;6M\x1b[<2;11;6M\x1b[<2;11;6m|")
        # It still types.
        await leave(window)


async def test_a_program_that_did_not_ask_gets_the_wheel_as_keys_and_no_presses(window: Window, tmp_path: Path) -> None:
    async with nacre.Tool("workspace", cwd=tmp_path) as tool:
        await read(window, tmp_path, tool, "")
        point = await cell(window, 10, 5)
        await window.mouse("mousePressed", point)
        await window.mouse("mouseReleased", point)
        await turn(window, point, 60)
        await until_screen(window, r"\x1b[B\x1b[B\x1b[B|")
        assert await window.run("document.getElementById('terminal-screen').innerText.includes('<')") is False
        await leave(window)


async def test_cursor_keys_and_pastes_are_in_the_form_that_the_program_asked_for(
    window: Window, tmp_path: Path
) -> None:
    async with nacre.Tool("workspace", cwd=tmp_path) as tool:
        await read(window, tmp_path, tool, APPLICATION)
        await window.key("ArrowUp")
        await until_screen(window, r"\x1bOA|")
        await window.paste("two\nlines")
        await until_screen(window, r"\x1bOA\x1b[200~two\rlines\x1b[201~|")
        await leave(window)
