"""A person at a real Chromium sees what agents do, answers, stops, and uses programs on terminals."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import nacre
from nacre.settings import PolicySettings, Settings
from web.chromium import PROGRAM, Browser, Window, chromium
from web.serving import Page, page_server, relayed

pytestmark = [pytest.mark.parts, pytest.mark.timeout(120)]

ASKING = Settings(policy=PolicySettings(rules=(("no_force_push", "ask"),)))
SECRET = "s3cret-of-24-characters!"
SCREEN = "document.getElementById('terminal-screen').innerText"

if PROGRAM is None and not os.environ.get("NACRE_TEST_REQUIRED"):
    pytestmark.append(pytest.mark.skip(reason="there is no Chromium: make parts"))


@pytest.fixture
async def page() -> AsyncIterator[Page]:
    async with page_server() as served:
        yield served


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as started:
        yield started


@pytest.fixture
async def window(page: Page, browser: Browser) -> AsyncIterator[Window]:
    """The page, opened with its token; no script fails and the policy blocks nothing in any test."""
    opened = await browser.window()
    await opened.open(page.address)
    await opened.until("document.getElementById('head').textContent === 'idle'")
    yield opened
    assert opened.problems == []


async def until_screen(window: Window, *texts: str) -> None:
    await window.until(" && ".join(f"{SCREEN}.includes({json.dumps(text)})" for text in texts))


async def test_live_output_arrives_and_the_token_leaves_the_address(window: Window, page: Page, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    async with nacre.Tool("workspace", cwd=tmp_path) as tool:
        call = asyncio.create_task(tool.call({"command": f"echo working; cat {gate}; exit 3", "env": {"CI": "1"}}))
        text = await window.shows("working", "running", '$ CI="1" echo working', "1 running")
        assert "released" not in text
        await asyncio.to_thread(gate.write_text, "released\n")
        await call
        await window.shows("released", "exit 3", "timeout 300 s", "idle")
    assert "token" not in await window.run("location.href + document.cookie")


async def test_output_full_of_markup_stays_text(window: Window) -> None:
    hostile = "<script>document.title='broken'</script><img src=x onerror=alert(1)><b>bold</b>&amp;"
    async with nacre.Tool("workspace") as tool:
        await tool.call({"command": f'echo "{hostile}"; exit 1', "env": {"A": hostile}})
    await window.shows(hostile, "exit 1")
    assert await window.run("document.querySelectorAll('main script, main img, main b').length") == 0
    assert await window.run("document.title") == "nacre"
    await window.press_button("Output", "#cards")
    await window.until(f"document.getElementById('output-text').textContent.includes({json.dumps(hostile)})")


async def test_the_browser_itself_refuses_to_make_html_of_a_text(page: Page, browser: Browser) -> None:
    window = await browser.window()
    await window.open(page.address)
    tried = "(() => { try { document.body.innerHTML = '<b>x</b>'; } catch (error) { return error.name; } })()"
    assert await window.run(tried) == "TypeError"


async def test_a_wrong_token_is_refused(page: Page, browser: Browser) -> None:
    window = await browser.window()
    await window.open(f"{page.address}x")
    await window.shows("the token is wrong")
    await window.open(f"http://127.0.0.1:{page.port}{page.gate.page}")
    await window.shows("This page needs its token")


async def test_a_whole_output_is_read_page_by_page(window: Window) -> None:
    async with nacre.Tool("workspace") as tool:
        await tool.call({"command": "seq 40000"})
    await window.shows("(show all)", "exit 0")
    await window.click("document.querySelector('.hint')")
    await window.until("document.getElementById('output-text').textContent.startsWith('1\\n2\\n3\\n')")
    assert not await window.run("document.getElementById('output-text').textContent.includes('\\n40000\\n')")
    await window.press_button("Next", "#output")
    await window.until("document.getElementById('output-text').textContent.includes('\\n20000\\n')")
    await window.press_button("Last", "#output")
    await window.until("document.getElementById('output-text').textContent.endsWith('\\n40000\\n')")
    await window.press_button("First", "#output")
    await window.until("document.getElementById('output-text').textContent.startsWith('1\\n2\\n3\\n')")
    await window.key("Escape")
    await window.until("!document.getElementById('output').open")


async def test_a_job_is_listed_read_and_stopped(window: Window) -> None:
    async with nacre.Tool("workspace") as tool:
        await tool.call({"command": "echo of the job; exec sleep 600", "async": True})
        await window.shows("Jobs · 1 running of 1", "bg_1")
        await window.press_button("Log", "#jobs")
        await window.until("document.getElementById('output-text').textContent === 'of the job\\n'")
        await window.press_button("Close", "#output")
        await window.press_button("Stop", "#jobs")
        await window.shows("Jobs · 0 running of 1", "stopped on request", "cancelled")


async def test_an_approval_is_answered(window: Window, tmp_path: Path) -> None:
    async with nacre.Tool("workspace", cwd=tmp_path, settings=ASKING) as tool:
        call = asyncio.create_task(tool.call({"command": "cd . && git push --force origin main"}))
        await window.shows("Waiting for you", "Approve?", "1 waiting for you", "s left")
        assert await window.run("document.querySelector('mark').textContent") == "git push --force origin main"
        assert await window.run("document.title") == "(1) nacre"
        await window.press_button("Once", "#questions")
        reply = await call
        assert "denied" not in reply.text
        await window.until("document.getElementById('questions').hidden")
        again = asyncio.create_task(tool.call({"command": "cd . && git push --force origin main"}))
        await window.shows("Approve?")
        await window.press_button("Deny", "#questions")
        assert (await again).is_error
        await window.shows("denied")


async def started(tool: nacre.Tool, command: str) -> str:
    reply = await tool.call({"command": command, "pty": True, "async": True})
    return str((reply.details or {})["async"]["jobId"])


async def test_prompts_are_answered_and_a_hidden_answer_is_in_no_file(window: Window, home: Path) -> None:
    async with nacre.Tool("workspace") as tool:
        await started(tool, "read -rp 'Name: ' n; read -rsp 'Password: ' p; echo; echo \"$n, ${#p} characters\"")
        await window.shows("It waits for input: Name:")
        await window.click("document.querySelector('#questions input')")
        await window.type("Ada")
        await window.key("Enter")
        await window.until("document.querySelector('#questions input')?.type === 'password'")
        await window.click("document.querySelector('#questions input')")
        await window.type(SECRET)
        await window.press_button("Send", "#questions")
        await window.shows("Ada, 24 characters", "exit 0")
        replies = await tool.call({"command": "true"})
        assert SECRET not in replies.text
    assert SECRET not in await window.run("document.documentElement.outerHTML")
    files = [path for path in home.rglob("*") if path.is_file()]
    assert len(files) > 2
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []


async def test_a_hidden_prompt_in_a_terminal_is_in_no_file(window: Window, home: Path) -> None:
    async with nacre.Tool("workspace") as tool:
        await started(tool, "read -rsp 'Password: ' p; echo; echo \"${#p} characters\"; read -r")
        await window.press_button("Terminal", "#jobs")
        await until_screen(window, "Password:")
        await window.until("document.getElementById('terminal-state').textContent === 'waits for hidden input'")
        await window.type(SECRET)
        await window.key("Enter")
        await until_screen(window, "24 characters")
        await window.press_button("Stop the program", "#terminal")
        await window.until("document.getElementById('terminal-state').textContent === 'stopped on request'")
    assert [path for path in home.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()] == []


async def test_a_python_repl_is_used(window: Window) -> None:
    async with nacre.Tool("workspace") as tool:
        await started(tool, f"{sys.executable} -q")
        await window.press_button("Terminal", "#jobs")
        await until_screen(window, ">>>")
        await window.type("print('né' * 3, 6 * 7)")
        await window.key("Enter")
        await until_screen(window, "nénéné 42")
        await window.key("ArrowUp")
        await until_screen(window, ">>> print('né' * 3, 6 * 7)\nnénéné 42\n>>> print('né' * 3, 6 * 7)")
        await window.key("c", ctrl=True)
        await until_screen(window, "KeyboardInterrupt")
        await window.key("d", ctrl=True)
        await window.until("document.getElementById('terminal-state').textContent === 'exit code 0'")


@pytest.mark.skipif(shutil.which("vim") is None, reason="there is no vim: make parts")
async def test_vim_is_used_with_escape_and_paste(window: Window, tmp_path: Path) -> None:
    file = tmp_path / "note.txt"
    async with nacre.Tool("workspace", cwd=tmp_path) as tool:
        await started(tool, "vim -u NONE -N note.txt")
        await window.press_button("Terminal", "#jobs")
        await until_screen(window, "~")
        await window.type("ihello")
        await window.key("Escape")
        await window.type("o")
        await window.paste("pasted line")
        await until_screen(window, "pasted line")
        await window.key("Escape")
        await window.key("ArrowUp")
        await window.type("x:wq")
        await window.key("Enter")
        await window.until("document.getElementById('terminal-state').textContent === 'exit code 0'")
    assert file.read_text(encoding="utf-8") == "hell\npasted line\n"


@pytest.mark.skipif(shutil.which("less") is None, reason="there is no less: make parts")
async def test_less_is_used_and_follows_the_size_of_the_window(window: Window, tmp_path: Path) -> None:
    (tmp_path / "numbers").write_text("".join(f"number {one}\n" for one in range(1, 500)), encoding="utf-8")
    async with nacre.Tool("workspace", cwd=tmp_path) as tool:
        await started(tool, "less numbers")
        await window.press_button("Terminal", "#jobs")
        await until_screen(window, "number 1\n", "number 2\n")
        await window.type("G")
        await until_screen(window, "number 499")
        before = await window.run("document.getElementById('terminal-screen').children.length")
        await window.set_view(900, 500)
        await window.until(f"document.getElementById('terminal-screen').children.length < {before}")
        await window.type("G")
        await until_screen(window, "number 499")
        await window.type("g")
        await window.key("ArrowDown")
        await window.until(f"{SCREEN}.startsWith('number 2\\n')")
        await window.key("]", ctrl=True)
        await window.until("!document.getElementById('terminal').open")
        await window.shows("Jobs · 1 running of 1")
        await window.press_button("Stop", "#jobs")
        await window.shows("Jobs · 0 running of 1")


async def test_a_foreground_terminal_of_a_call_is_used(window: Window) -> None:
    async with nacre.Tool("workspace") as tool:
        # A change of the size is a key for curses.
        wait = "import curses; curses.wrapper(lambda s: [0 for _ in iter(s.getch, 120)])"
        program = f"{sys.executable} -c '{wait}'; echo done"
        call = asyncio.create_task(tool.call({"command": program, "pty": True}))
        await window.press_button("Terminal", "#cards")
        await window.until("document.getElementById('terminal-state').textContent === 'running'")
        await window.type("x")
        reply = await call
        assert "done" in reply.text
        await window.until("document.getElementById('terminal-stop').disabled")


async def test_everything_that_takes_the_keyboard_has_a_name_and_the_page_has_its_landmarks(
    window: Window, tmp_path: Path
) -> None:
    async with nacre.Tool("workspace", cwd=tmp_path, settings=ASKING) as tool:
        await started(tool, "read -rp 'Name: ' n")
        call = asyncio.create_task(tool.call({"command": "git push --force origin main"}))
        await window.shows("Approve?", "It waits for input: Name:", "Jobs · 1 running of 1")
        nodes = (await window.ask("Accessibility.getFullAXTree"))["nodes"]
        roles = [node["role"]["value"] for node in nodes if not node["ignored"]]
        assert roles.count("main") == 1
        assert {"banner", "complementary", "article"} <= set(roles)
        nameless = [
            node["role"]["value"]
            for node in nodes
            if not node["ignored"]
            and any(one["name"] == "focusable" and one["value"].get("value") for one in node.get("properties", ()))
            and not node.get("name", {}).get("value")
            and node["role"]["value"] != "RootWebArea"
        ]
        assert nameless == []
        headings = await window.run(
            "[...document.querySelectorAll('h1,h2,h3')].filter(e => e.checkVisibility()).map(e => e.tagName)"
        )
        assert headings[0] == "H1"
        assert headings.count("H1") == 1
        # Live regions: one that speaks of calls, at most every three seconds; outputs and times are in none.
        assert await window.run("document.querySelectorAll('[aria-live=polite]').length") == 1
        assert await window.run("!!document.querySelector('#cards [aria-live], #cards [role=status]')") is False
        await window.press_button("Deny", "#questions")
        await call
        await window.press_button("Stop", "#jobs")
        await window.shows("Jobs · 0 running of 1")


async def test_the_keyboard_alone_answers_a_question(window: Window, tmp_path: Path) -> None:
    async with nacre.Tool("workspace", cwd=tmp_path, settings=ASKING) as tool:
        call = asyncio.create_task(tool.call({"command": "git push --force origin main"}))
        await window.shows("Approve?")
        while await window.run("document.activeElement.textContent") != "Deny":
            await window.key("Tab")
        # The focus is seen.
        assert await window.run("getComputedStyle(document.activeElement).outlineStyle") != "none"
        await window.key("Enter")
        assert (await call).is_error
        await window.shows("denied")


async def test_a_phone_shows_everything_without_scrolling_sideways(
    page: Page, browser: Browser, tmp_path: Path
) -> None:
    window = await browser.window(375, 700)
    await window.open(page.address)
    long = "x" * 300
    async with nacre.Tool("workspace", cwd=tmp_path, settings=ASKING) as tool:
        await tool.call({"command": f"echo {long}; echo '{long} {long}'"})
        await started(tool, f"echo {long}; read -rp 'A long question that needs more than a line of a phone: ' x")
        call = asyncio.create_task(tool.call({"command": f"git push --force origin {long}"}))
        await window.shows("Approve?", "It waits for input:", "Jobs · 1 running of 1", "exit 0")
        assert await window.run("document.documentElement.scrollWidth") <= 375
        assert await window.run("[...document.querySelectorAll('.card *')].every(e => e.scrollWidth <= 375)")
        await window.press_button("Terminal", "#jobs")
        await until_screen(window, "A long question")
        assert await window.run("document.getElementById('terminal').scrollWidth") <= 375
        await window.press_button("Leave", "#terminal")
        await window.press_button("Deny", "#questions")
        await call
        await window.press_button("Stop", "#jobs")
        await window.shows("Jobs · 0 running of 1")
    assert window.problems == []


async def test_a_page_that_was_cut_off_comes_again_without_doubles(page: Page, browser: Browser) -> None:
    window = await browser.window()
    async with relayed(page) as (network, address), nacre.Tool("workspace") as tool:
        await window.open(address)
        await window.until("document.getElementById('head').textContent === 'idle'")
        await tool.call({"command": "echo one"})
        await window.shows("$ echo one")
        network.cut()
        await window.shows("Connection lost; trying again.")
        await tool.call({"command": "echo two"})
        network.mend()
        await window.shows("$ echo two")
        await window.until("document.getElementById('problem').hidden")
        assert await window.run("document.querySelectorAll('#cards .card').length") == 2


AGENT = """
import asyncio, sys
import nacre

async def main():
    async with nacre.Tool("workspace") as tool:
        for line in sys.stdin:
            reply = await tool.call({"command": line.strip()})
            print(reply.text.encode(), flush=True)

asyncio.run(main())
"""


async def test_other_programs_are_shown_and_a_killed_browser_disturbs_nothing(page: Page, tmp_path: Path) -> None:
    agent = subprocess.Popen(
        [sys.executable, "-c", AGENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    server = subprocess.Popen(
        [sys.executable, "-m", "nacre", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    try:
        async with chromium() as browser:
            window = await browser.window()
            await window.open(page.address)
            await window.until("document.getElementById('head').textContent === 'idle'")
            _say(agent, "echo from the library")
            _call(server, "echo from the server")
            await window.shows("$ echo from the library", "library · ", "$ echo from the server", "mcp · ", "exit 0")
            assert await window.run("document.querySelectorAll('#cards .card').length") == 2
            browser.kill()
        assert "from the library" in await asyncio.to_thread(_line, agent)
        _say(agent, "echo still here")
        assert "still here" in await asyncio.to_thread(_line, agent)
    finally:
        for program in (agent, server):
            program.communicate()


def _line(program: subprocess.Popen[str]) -> str:
    assert program.stdout is not None
    return program.stdout.readline()


def _say(program: subprocess.Popen[str], text: str) -> None:
    assert program.stdin is not None
    program.stdin.write(f"{text}\n")
    program.stdin.flush()


def _call(server: subprocess.Popen[str], command: str) -> None:
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": client},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "bash", "arguments": {"command": command}}},
    ]
    for message in messages:
        _say(server, json.dumps({"jsonrpc": "2.0", **message}))
