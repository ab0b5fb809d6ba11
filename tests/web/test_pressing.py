"""What a person presses is clicked, whatever the server tells between the press and the release."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import nacre
from web.chromium import Browser, Window, button
from web.serving import Page
from web.test_browser import ASKING, browser, page, pytestmark, started

__all__ = ["browser", "page", "pytestmark"]

# Notes each event after the page has taken it: what the page holds back is seen nowhere else.
NOTING = """
const listen = EventSource.prototype.addEventListener;
window.told = [];
EventSource.prototype.addEventListener = function (name, handler) {
  listen.call(this, name, (event) => { handler(event); window.told.push([name, JSON.parse(event.data)]); });
};
"""


@pytest.fixture
async def window(page: Page, browser: Browser) -> AsyncIterator[Window]:
    opened = await browser.window()
    await opened.ask("Page.addScriptToEvaluateOnNewDocument", source=NOTING)
    await opened.open(page.address)
    await opened.until("document.getElementById('head').textContent === 'idle'")
    yield opened
    assert opened.problems == []


async def until_told(window: Window, name: str, condition: str) -> None:
    """Wait until the page was told something; `condition` is about its data."""
    await window.until(f"window.told.some(([name, data]) => name === {json.dumps(name)} && {condition})")


async def release_gate(gate: Path) -> None:
    await asyncio.to_thread(gate.write_text, "")


async def test_output_is_pressed_while_its_call_ends_and_others_come(window: Window, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    async with nacre.Tool("workspace", cwd=tmp_path) as tool:
        call = asyncio.create_task(tool.call({"command": f"echo first; cat {gate}; seq 5"}))
        await window.shows("first")
        point = await window.press(button("Output", "#cards"))
        await release_gate(gate)
        await call
        await tool.call({"command": "echo second"})
        await until_told(window, "card", "data.command === 'echo second' && data.ended")
        assert "echo second" not in await window.run("document.body.innerText")
        await window.release(point)
        await window.until("document.getElementById('output').open")
        # What was told meanwhile is shown now.
        await window.shows("echo second", "idle")


async def test_log_is_pressed_while_its_job_ends_and_another_begins(window: Window, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    async with nacre.Tool("workspace", cwd=tmp_path) as tool:
        await tool.call({"command": f"echo of the job; cat {gate}", "async": True})
        await window.shows("Jobs · 1 running of 1")
        # Its place in the list changes too: the running one is first.
        point = await window.press(button("Log", "#jobs"))
        await tool.call({"command": "exec sleep 600", "async": True})
        await release_gate(gate)
        await until_told(window, "jobs", "data.jobs.map(one => one.status).join() === 'running,completed'")
        await window.release(point)
        await window.until("document.getElementById('output-text').textContent === 'of the job\\n'")
        await window.press_button("Close", "#output")
        await window.shows("Jobs · 1 running of 2")
        await window.press_button("Stop", "#jobs")
        await window.shows("Jobs · 0 running of 2")


async def test_rows_of_jobs_keep_the_focus_when_they_change_places(window: Window, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    async with nacre.Tool("workspace", cwd=tmp_path) as tool:
        await tool.call({"command": "exec sleep 600", "async": True})
        await tool.call({"command": f"cat {gate}", "async": True})
        await window.shows("Jobs · 2 running of 2")
        for job in ("bg_1", "bg_2"):
            await window.run(f"document.querySelector('[aria-label=\"Log {job}\"]').focus()")
            if job == "bg_1":
                await release_gate(gate)
                await window.shows("Jobs · 1 running of 2")
            else:
                await window.run("document.querySelector('[aria-label=\"Stop bg_1\"]').click()")
                await window.shows("Jobs · 0 running of 2")
            assert await window.run("document.activeElement.ariaLabel") == f"Log {job}"


async def test_an_approval_is_pressed_while_another_question_goes(window: Window, tmp_path: Path) -> None:
    # A tool asks one question at a time.
    one, other = (nacre.Tool("workspace", cwd=tmp_path, settings=ASKING) for _ in range(2))
    async with one, other:
        first = asyncio.create_task(one.call({"command": "git push --force origin first"}))
        await window.until("document.querySelectorAll('#questions .question').length === 1")
        second = asyncio.create_task(other.call({"command": "git push --force origin second"}))
        await window.until("document.querySelectorAll('#questions .question').length === 2")
        group = "document.querySelectorAll('#questions .question')[1].querySelector('.buttons')"
        point = await window.press(f"[...{group}.children].find(e => e.textContent === 'Once')")
        # The second question would take the place of the first.
        first.cancel()
        await asyncio.wait([first])
        await window.until("!window.told.findLast(([, data]) => data.command?.endsWith('first'))[1].question")
        await window.release(point)
        assert "denied" not in (await second).text
        await window.until("document.getElementById('questions').hidden")


async def test_a_prompt_is_answered_while_calls_come_and_keeps_what_is_typed(window: Window) -> None:
    async with nacre.Tool("workspace") as tool:
        await started(tool, "read -rp 'Name: ' n; echo \"hello $n\"")
        await window.shows("It waits for input: Name:")
        await window.click("document.querySelector('#questions input')")
        await window.type("Ada")
        # A window of another width follows the server anew.
        await window.set_view(900, 700)
        await window.until("window.told.filter(([name]) => name === 'settled').length === 2")
        assert await window.run("document.querySelector('#questions input').value") == "Ada"
        point = await window.press(button("Send", "#questions"))
        await tool.call({"command": "echo another"})
        await until_told(window, "card", "data.command === 'echo another' && data.ended")
        await window.release(point)
        await window.shows("hello Ada", "exit 0")


async def test_a_release_that_was_not_told_is_noticed_when_the_mouse_moves(window: Window) -> None:
    async with nacre.Tool("workspace") as tool:
        x, y = await window.press("document.getElementById('calls-title')")
        await tool.call({"command": "echo later"})
        await until_told(window, "card", "data.ended")
        assert "echo later" not in await window.run("document.body.innerText")
        await window.mouse("mouseMoved", (x + 20, y), button="none", buttons=0)
        await window.shows("$ echo later", "exit 0")
