"""Output at full speed, in a card and in a terminal: the page answers, and the server's memory stays where it was."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import nacre
from web.chromium import Window, chromium
from web.test_browser import SCREEN, pytestmark, started

__all__ = ["pytestmark"]

FLOOD_SECONDS = 10
PRESSES = 4
# Far below what ten seconds of output would take; a screen, cards and a browser's frames fit well.
GROWTH_MB = 48
# Floods its terminal, and answers each key by a line that stays until the next key.
ANSWERING = """
import os, threading, time, tty
tty.setraw(0)
calm = threading.Event()

def keys():
    while key := os.read(0, 1):
        calm.set()
        os.write(1, b"\\x1b[2J\\x1b[Hanswered " + key)
        if key == b"q":
            os._exit(0)
        os.read(0, 1)
        calm.clear()

threading.Thread(target=keys, daemon=True).start()
while True:
    if calm.is_set():
        time.sleep(0.005)
    else:
        os.write(1, b"y\\r\\n" * 2000)
"""


@asynccontextmanager
async def server() -> AsyncIterator[tuple[str, int]]:
    """`nacre web` as a process of its own: its address and its pid."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "nacre", "web", stdout=asyncio.subprocess.PIPE, env=os.environ
    )
    try:
        assert process.stdout is not None
        yield (await process.stdout.readline()).decode().strip(), process.pid
    finally:
        process.terminate()
        await process.wait()


def megabytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmRSS"))


async def test_a_flood_in_a_card_leaves_the_page_usable_and_memory_bounded(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    async with server() as (address, pid), chromium() as browser, nacre.Tool("workspace") as tool:
        window = await browser.window()
        await window.open(address)
        await window.until("document.getElementById('head').textContent === 'idle'")
        before = megabytes(pid)
        flood = f"yes & read -r < {gate}; kill $!; wait; echo over"
        call = asyncio.create_task(tool.call({"command": flood}))
        # What came too fast for viewers is counted, and the newest is shown.
        await window.until("/MB before/.test(document.querySelector('.hint')?.textContent)")
        loop = asyncio.get_running_loop()
        end, presses = loop.time() + FLOOD_SECONDS, 0
        while presses < PRESSES or loop.time() < end:
            await _use(window)
            presses += 1
            assert megabytes(pid) - before < GROWTH_MB
        await asyncio.to_thread(gate.write_text, "\n")
        await call
        await window.shows("over", "exit 0")
        assert window.problems == []


async def _use(window: Window) -> None:
    await window.press_button("Output", "#cards")
    await window.until("document.getElementById('output').open")
    await window.press_button("Close", "#output")
    await window.until("!document.getElementById('output').open")


async def test_a_flood_in_a_terminal_answers_keys_and_memory_stays_bounded(tmp_path: Path) -> None:
    (tmp_path / "flood.py").write_text(ANSWERING, encoding="utf-8")
    async with server() as (address, pid), chromium() as browser, nacre.Tool("workspace", cwd=tmp_path) as tool:
        window = await browser.window()
        await window.open(address)
        await started(tool, f"{sys.executable} flood.py")
        await window.press_button("Terminal", "#jobs")
        await window.until(f"{SCREEN}.includes('y\\ny\\n')")
        before = megabytes(pid)
        loop = asyncio.get_running_loop()
        end = loop.time() + FLOOD_SECONDS
        for key in "abcdefgh" * 100:
            await window.type(key)
            await window.until(f"{SCREEN}.includes({json.dumps(f'answered {key}')})")
            await window.type(" ")
            await window.until(f"{SCREEN}.includes('y\\ny\\n')")
            assert megabytes(pid) - before < GROWTH_MB
            if loop.time() > end:
                break
        await window.type("q")
        await window.until("document.getElementById('terminal-state').textContent === 'exit code 0'")
        assert window.problems == []
