"""The console of an agent's call on a terminal: it opens, takes keys, kills at Esc, and leaves a job when detached."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.tui.pilots import console, shows, until
from textual import events

import nacre
from nacre.settings import Settings, TerminalSettings
from nacre.tui.console_overlay import ConsoleOverlay

OPEN = "Console [running]"
ASKS = "read -rp 'Your name: ' name; echo \"hello $name\"; read -r wait"
READS_KEYS = "stty -echo -icanon; echo ready; while IFS= read -rsn1 key; do printf '<%q>' \"$key\"; done"


async def test_a_call_on_a_terminal_opens_the_console_and_takes_what_is_typed(tmp_path: Path) -> None:
    async with console() as (app, pilot), nacre.Tool("workspace", cwd=tmp_path) as tool:
        call = asyncio.create_task(tool.call({"command": ASKS, "pty": True}))
        await shows(app, pilot, OPEN, "Your name:", "esc force-kill")
        reply = await call
        # It waits for input, so its agent has an answer, and the console goes on with the job.
        assert reply.details["waitingFor"] == {"prompt": "Your name:", "hidden": False}
        await pilot.press(*"Ada", "enter")
        await shows(app, pilot, "hello Ada")
        await pilot.press("enter")
        await shows(app, pilot, "[exit 0]", "session finished")
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, ConsoleOverlay))


async def test_the_call_of_a_program_that_ends_in_the_console_answers_its_agent(tmp_path: Path) -> None:
    async with console() as (app, pilot), nacre.Tool("workspace", cwd=tmp_path) as tool:
        call = asyncio.create_task(tool.call({"command": "echo ready; read -rsn1; echo over", "pty": True}))
        await shows(app, pilot, OPEN, "ready")
        await pilot.press("x")
        reply = await call
        assert "ready\nover" in reply.text
        # The call ended in the foreground and left no job; the console still shows the last screen and the end.
        await shows(app, pilot, "over", "[exit 0]")


async def test_esc_kills_and_closes(tmp_path: Path) -> None:
    """D13: `pty.escape = kill` is the default, and closing the console ends the program."""
    async with console() as (app, pilot), nacre.Tool("workspace", cwd=tmp_path) as tool:
        call = asyncio.create_task(tool.call({"command": "echo begun; exec sleep 600", "pty": True}))
        await shows(app, pilot, OPEN, "begun")
        await pilot.press("escape")
        reply = await call
        assert reply.is_error
        assert "begun" in reply.text
        await until(pilot, lambda: not isinstance(app.screen, ConsoleOverlay))
        await shows(app, pilot, "■ $ echo begun", "cancelled")


async def test_with_double_one_esc_is_forwarded_and_two_kill(tmp_path: Path) -> None:
    settings = Settings(pty=TerminalSettings(escape="double"))
    async with console(settings=settings) as (app, pilot), nacre.Tool("workspace", cwd=tmp_path) as tool:
        call = asyncio.create_task(tool.call({"command": READS_KEYS, "pty": True}))
        await shows(app, pilot, OPEN, "ready", "esc esc force-kill")
        await pilot.press("escape")
        await shows(app, pilot, "<$'\\E'>")
        assert isinstance(app.screen, ConsoleOverlay)
        # Two that a busy machine takes for single ones are forwarded; a person would press them again, too.
        while isinstance(app.screen, ConsoleOverlay):
            await pilot.press("escape", "escape")
        await call


async def test_the_detach_key_keeps_the_run_as_a_job_and_its_console_opens_again(tmp_path: Path) -> None:
    async with console() as (app, pilot), nacre.Tool("workspace", cwd=tmp_path) as tool:
        call = asyncio.create_task(tool.call({"command": f"echo begun; {READS_KEYS}", "pty": True}))
        await shows(app, pilot, OPEN, "begun", "ready")
        await pilot.press("ctrl+right_square_bracket")
        reply = await call
        assert "a person detached it from the console" in reply.text
        assert reply.details["async"] == {"state": "running", "jobId": "bg_1", "type": "bash"}
        await shows(app, pilot, "t opens its console", "bg_1")
        await pilot.press("f5")
        await shows(app, pilot, OPEN, "ready")
        await pilot.press("x")
        await shows(app, pilot, "<x>")
        await pilot.press("escape")
        await until(pilot, lambda: not app._engine.jobs.get("bg_1").running)


async def test_a_console_does_not_open_over_what_a_person_types(tmp_path: Path) -> None:
    async with console() as (app, pilot), nacre.Tool("workspace", cwd=tmp_path) as tool:
        await pilot.press("exclamation_mark", "l", "s")
        call = asyncio.create_task(tool.call({"command": "echo begun; exec sleep 600", "pty": True}))
        await shows(app, pilot, "F5 opens the console of", "begun")
        assert not isinstance(app.screen, ConsoleOverlay)
        typed: Any = app.query_one("#typed")
        assert typed.value == "!ls"
        await pilot.press("f5")
        await shows(app, pilot, OPEN, "begun")
        await pilot.press("escape")
        await call


KEYS = [
    ("up", "1b4f41"),
    ("home", "1b4f48"),
    ("ctrl+c", "03"),
    ("ctrl+q", "11"),
    ("f1", "1b4f50"),
    ("shift+tab", "1b5b5a"),
    ("pageup", "1b5b357e"),
    ("alt+x", "1b78"),
    ("ä", "c3a4"),
]
# Application cursor mode, bracketed paste, the mouse; then what is typed as hexadecimal.
RAW = "stty raw -echo; printf '\\033[?1h\\033[?2004h\\033[?1000h\\033[?1006hgo'; exec od -An -v -w1 -tx1"


async def test_keys_paste_mouse_and_size_reach_the_program(tmp_path: Path) -> None:
    async with console(size=(100, 30)) as (app, pilot), nacre.Tool("workspace", cwd=tmp_path) as tool:
        call = asyncio.create_task(tool.call({"command": f"read -rsn1; stty size; {RAW}", "pty": True}))
        await shows(app, pilot, OPEN)
        await pilot.press("x")
        # 100 columns and 30 rows without the border.
        await shows(app, pilot, "28 98", "go")
        for key, code in KEYS:
            await pilot.press(key)
            await _sees(app, pilot, code)
        app.screen.query_one("Console").post_message(events.Paste("a\nb"))
        await _sees(app, pilot, b"\x1b[200~a\rb\x1b[201~".hex())
        await pilot.click("Console", offset=(4, 3))
        await _sees(app, pilot, b"\x1b[<0;5;4M".hex())
        await pilot.press("escape")
        await call


async def _sees(app: Any, pilot: Any, code: str) -> None:
    """Wait until the program has told these bytes back."""
    output = Path(app.screen.query_one("Console").terminal.job.output_file)

    def seen() -> bool:
        return code in "".join(output.read_text(encoding="utf-8").partition("go")[2].split())

    try:
        await until(pilot, seen)
    except TimeoutError:
        pytest.fail(f"{code} did not arrive: {output.read_text(encoding='utf-8')!r}")
