"""Takes the pictures of `nacre web`: `python docs/web_pictures.py [DIRECTORY]`. It needs Chromium (`make parts`).

The calls are real, in a directory of no user; look at the pictures before you commit them.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

PICTURES = ("web.png", "web-dark.png", "web-phone.png", "web-terminal.png")
TESTS = r"""
for name in api auth billing cart mail orders search users; do echo "tests/test_$name.py ........"; done
echo; echo "FAILED tests/test_auth.py::test_login - assert 401 == 200"; echo "1 failed, 103 passed in 12.40s"; exit 1
"""
NOTE = "# Release\n\n- the page for a browser and a phone\n- terminals in it\n"


@contextlib.asynccontextmanager
async def scene(project: Path) -> AsyncIterator[Any]:
    """Run an agent's minute, after an hour in the log: calls that end, a server as a job, a question, an editor."""
    import nacre
    from nacre.audit import append_line
    from nacre.settings import PolicySettings, Settings
    from web.serving import page_server

    asking = Settings(policy=PolicySettings(rules=(("no_force_push", "ask"),)))
    (project / "pytest").write_text(TESTS, encoding="utf-8")
    (project / "dev").write_text(
        "echo '  Local: http://127.0.0.1:5173/'; echo '  ready in 312 ms'; sleep 600", encoding="utf-8"
    )
    (project / "notes.md").write_text(NOTE, encoding="utf-8")
    for name in ("pytest", "dev"):
        (project / name).chmod(0o755)
    earlier = itertools.cycle((("exited", 0, 900), ("exited", 0, 5200), ("exited", 1, 2600), ("exited", 0, 300)))
    for minutes in (
        55,
        53,
        53,
        52,
        47,
        46,
        46,
        46,
        45,
        38,
        37,
        31,
        31,
        30,
        30,
        29,
        24,
        18,
        17,
        17,
        16,
        12,
        11,
        10,
        10,
        6,
        5,
        5,
        4,
    ):
        outcome, code, size = next(earlier)
        entry = {"time": time.time() - minutes * 60, "outcome": outcome, "exitCode": code, "stdoutBytes": size}
        append_line(os.environ["NACRE_HOME"], entry)
    async with page_server() as page, nacre.Tool("workspace", cwd=project, settings=asking) as tool:
        # The calls are seen by a browser that comes later, as the server follows them from its start.
        await tool.call({"command": "git init -q . && git status --short | head -3"})
        await tool.call({"command": "./dev", "async": True})
        await tool.call({"command": "vim -u NONE -N notes.md", "async": True, "pty": True})
        await tool.call({"command": "./pytest -q", "env": {"CI": "1"}})
        asked = asyncio.create_task(tool.call({"command": "git commit -qam release && git push --force origin main"}))
        try:
            yield page
        finally:
            for job in ("bg_1", "bg_2"):
                await page.post(f"api/calls/{job}/stop")
            asked.cancel()
            await asyncio.wait([asked])


async def take(directory: Path, project: Path) -> None:
    """Take all pictures."""
    from web.chromium import chromium

    async with scene(project) as page, chromium() as browser:
        for name, width, height, dark in (
            ("web.png", 1200, 800, False),
            ("web-dark.png", 1200, 800, True),
            ("web-phone.png", 375, 760, False),
        ):
            window = await browser.window(width, height, dark=dark, scale=2)
            await window.open(page.address)
            await window.shows("Approve?", "s left", "Jobs · 2 running of 2", "1 failed, 103 passed")
            await window.until("document.querySelectorAll('#calls-chart rect').length > 0")
            (directory / name).write_bytes(await window.picture())
        window = await browser.window(1000, 620, dark=True, scale=2)
        await window.open(page.address)
        await window.press_button("Terminal", "#jobs")
        await window.until("document.getElementById('terminal-screen').innerText.includes('terminals in it')")
        await window.type("Goand written down")
        await window.until("document.getElementById('terminal-screen').innerText.includes('and written down')")
        (directory / "web-terminal.png").write_bytes(await window.picture())


def main(directory: Path) -> None:
    """Take them in a directory of no user."""
    with tempfile.TemporaryDirectory() as place:
        project = Path(place) / "shop"
        project.mkdir()
        os.environ |= {"HOME": place, "NACRE_HOME": f"{place}/state", "NACRE_SNAPSHOT": "false"}
        os.chdir(project)
        try:
            asyncio.run(take(directory, project))
        finally:
            os.chdir("/")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else Path(__file__).resolve().parent)
