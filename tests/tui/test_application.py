"""The console shows what agents do as they do it, and lets a person answer, stop, search and run commands."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.tui.pilots import console, screen_text, shows, type_line, until

import nacre
from nacre.settings import PolicySettings, Settings
from nacre.tui.question_bar import QuestionBar

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


async def test_a_call_is_shown_from_its_start_to_its_end(tmp_path: Path) -> None:
    async with console() as (app, pilot), nacre.Tool("workspace", cwd=tmp_path) as tool:
        gate = tmp_path / "gate"
        os.mkfifo(gate)
        call = asyncio.create_task(tool.call({"command": f"echo working; cat {gate}; exit 3", "env": {"CI": "1"}}))
        await shows(app, pilot, '● $ CI="1" echo working', "working", "running")
        await asyncio.to_thread(gate.write_text, "released\n")
        await call
        screen = await shows(app, pilot, "✗ $", "released", "exit 3")
        assert "timeout 300 s" in screen
        assert "library" in screen


async def test_calls_of_other_programs_are_shown_and_a_killed_viewer_disturbs_nothing(tmp_path: Path) -> None:
    agent = subprocess.Popen(
        [sys.executable, "-c", AGENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert agent.stdin is not None
    assert agent.stdout is not None
    try:
        async with console() as (app, pilot):
            agent.stdin.write("echo from another program\n")
            agent.stdin.flush()
            await shows(app, pilot, "✓ $ echo from another program")
        # The console is gone; the agent goes on.
        answered = await asyncio.to_thread(agent.stdout.readline)
        agent.stdin.write("echo still here\n")
        agent.stdin.flush()
        assert "still here" in await asyncio.to_thread(agent.stdout.readline)
        assert "from another program" in answered
    finally:
        agent.stdin.close()
        agent.stdout.close()
        agent.wait()


async def test_a_person_s_command_streams_live_and_its_failure_is_shown(tmp_path: Path) -> None:
    """X13, X232, X247."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    async with console(cwd=str(tmp_path)) as (app, pilot):
        await type_line(app, pilot, f"!echo begun; cat {gate}; exit 4")
        await shows(app, pilot, "● ! echo begun", "begun")
        await asyncio.to_thread(gate.write_text, "")
        screen = await shows(app, pilot, "✗ ! echo begun", "exit 4")
        assert "a person" in screen


async def test_ctrl_c_stops_a_person_s_command_and_keeps_what_it_wrote(tmp_path: Path) -> None:
    async with console(cwd=str(tmp_path)) as (app, pilot):
        await type_line(app, pilot, "!echo begun; sleep 60")
        await shows(app, pilot, "begun")
        await pilot.press("ctrl+c")
        await shows(app, pilot, "■ ! echo begun", "cancelled", "begun")


async def test_a_line_cd_moves_the_session(tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    async with console(cwd=str(tmp_path)) as (app, pilot):
        await type_line(app, pilot, "cd web")
        await until(pilot, lambda: app.person.cwd == str(tmp_path / "web"))
        await shows(app, pilot, "web ❯")


async def test_a_command_that_the_agent_sees_is_in_its_next_answer_once(tmp_path: Path, home: Path) -> None:
    """D36: `!` is handed over once, `!!` never, and the log has no content."""
    async with console(cwd=str(tmp_path)) as (app, pilot), nacre.Tool("workspace", cwd=tmp_path) as tool:
        assert "person" not in (await tool.call({"command": "true"})).text
        await until(pilot, lambda: app.calls.sessions)
        await pilot.press("f3")
        await shows(app, pilot, "→ library in")
        await type_line(app, pilot, "!echo for the agent; false")
        await shows(app, pilot, "exit 1")
        await type_line(app, pilot, "!!echo for nobody else")
        await until(pilot, lambda: not app.person.busy and screen_text(app).count("exit") >= 3)
        from nacre import handover

        await until(pilot, lambda: handover.waiting)
        answer = (await tool.call({"command": "echo mine"})).text
        assert answer.startswith("mine")
        assert "the person at the console ran `echo for the agent; false` (exit 1):\nfor the agent" in answer
        assert "for nobody else" not in answer
        assert "for the agent" not in (await tool.call({"command": "echo mine"})).text
        assert "for the agent\n" not in (home / "log.jsonl").read_text()


@pytest.mark.parts
@pytest.mark.parametrize("bang", ["!", "!!"])
async def test_a_person_s_command_that_needs_a_terminal_opens_a_console(tmp_path: Path, home: Path, bang: str) -> None:
    """D36: with `!` the agent reads it afterwards, with `!!` not."""
    pytest.importorskip("pyghostty", reason="needs an emulator")
    async with console(cwd=str(tmp_path)) as (app, pilot), nacre.Tool("workspace", cwd=tmp_path) as tool:
        await tool.call({"command": "true"})
        await until(pilot, lambda: app.calls.sessions)
        await pilot.press("f3")
        await type_line(app, pilot, f"{bang}sh")
        await shows(app, pilot, "Console [running] $ sh")
        await pilot.press(*"tty", "enter")
        await shows(app, pilot, "/dev/pts/")
        await pilot.press("ctrl+d")
        await shows(app, pilot, "Console [exit 0]", "session finished")
        await pilot.press("escape")
        await shows(app, pilot, f"✓ {bang} sh", "exit 0")
        await until(pilot, lambda: not app.person.busy)
        await pilot.pause()
        answer = (await tool.call({"command": "echo mine"})).text
        assert ("the person at the console ran `sh` (exit 0)" in answer) is (bang == "!")
        assert ("/dev/pts/" in answer) is (bang == "!")
    entries = [json.loads(line) for line in (home / "log.jsonl").read_text().splitlines()]
    assert [entry["by"] for entry in entries if entry["command"] == "sh"] == ["person"]


@pytest.mark.parts
async def test_a_person_s_console_is_left_as_a_job_or_ended(tmp_path: Path) -> None:
    pytest.importorskip("pyghostty", reason="needs an emulator")
    async with console(cwd=str(tmp_path)) as (app, pilot):
        await type_line(app, pilot, "!sh")
        await shows(app, pilot, "Console [running] $ sh")
        await pilot.press("ctrl+right_square_bracket")
        await shows(app, pilot, "✓ ! sh", "bg_1", "goes on as a job")
        await until(pilot, lambda: not app.person.busy)
        await type_line(app, pilot, "!sh")
        await shows(app, pilot, "Console [running] $ sh")
        await pilot.press("escape")
        await shows(app, pilot, "■ ! sh", "cancelled")
        jobs = app._engine.jobs
        assert [job.id for job in jobs.list().jobs if job.running] == ["bg_1"]
        jobs.stop("bg_1")
        await until(pilot, lambda: not jobs.get("bg_1").running)


async def test_a_person_s_risky_command_is_a_question_that_marks_the_risky_part(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    async with console(cwd=str(tmp_path)) as (app, pilot):
        await type_line(app, pilot, "!echo x && rm -rf .git")
        await shows(app, pilot, "Approve?", "1 once", "4 deny")
        await pilot.press("4")
        await shows(app, pilot, "⊘ ! echo x", "not approved")
        assert (tmp_path / ".git").exists()
        await type_line(app, pilot, "!echo x && rm -rf .git")
        await shows(app, pilot, "Approve?")
        await pilot.press("1")
        await until(pilot, lambda: not (tmp_path / ".git").exists())


async def test_an_agent_s_approval_is_answered_from_the_console(tmp_path: Path) -> None:
    """D35: the question takes no key before F4; the risky part is marked."""
    settings = Settings(policy=PolicySettings(rules=(("no_dangerous_rm", "ask"),)))
    (tmp_path / ".git").mkdir()
    async with console() as (app, pilot), nacre.Tool("workspace", cwd=tmp_path, settings=settings) as tool:
        call = asyncio.create_task(tool.call({"command": "echo x && rm -rf .git"}))
        await shows(app, pilot, "Approve?", "2 this session", "3 always, as a rule")
        await pilot.press("1")
        assert app.query_one(QuestionBar).current is not None
        assert (tmp_path / ".git").exists()
        await pilot.press("backspace", "f4", "1")
        assert not (await call).is_error
        assert not (tmp_path / ".git").exists()
        await until(pilot, lambda: app.query_one(QuestionBar).current is None)


async def test_a_selected_call_is_stopped_and_its_output_stays(tmp_path: Path) -> None:
    async with console() as (app, pilot), nacre.Tool("workspace", cwd=tmp_path) as tool:
        call = asyncio.create_task(tool.call({"command": "echo begun; sleep 60"}))
        await shows(app, pilot, "begun", "running")
        app.transcript.focus()
        await pilot.press("s")
        reply = await call
        assert "begun" in reply.text
        await shows(app, pilot, "■ $ echo begun", "cancelled", "begun")


async def test_jobs_are_listed_with_their_live_log_and_stopped(tmp_path: Path) -> None:
    async with console(size=(120, 30)) as (app, pilot), nacre.Tool("workspace", cwd=tmp_path) as tool:
        await tool.call({"command": "echo serving; sleep 60", "async": True})
        await pilot.press("f2")
        await shows(app, pilot, "Jobs · 1 running of 1", "bg_1", "serving")
        await pilot.press("enter")
        await shows(app, pilot, "bg_1  echo serving; sleep 60", "Esc closes")
        await pilot.press("escape", "s")
        await shows(app, pilot, "Jobs · 0 running of 1")


async def test_unfolding_shows_the_whole_output_of_an_agent_s_call(tmp_path: Path) -> None:
    async with console() as (app, pilot), nacre.Tool("workspace", cwd=tmp_path) as tool:
        await tool.call({"command": "seq 30000"})
        await shows(app, pilot, "30000", "(o shows them)", "artifact 1")
        app.transcript.focus()
        await pilot.press("o")
        await until(pilot, lambda: app.transcript.virtual_size.height > 30_000)
        await pilot.press("g")
        await shows(app, pilot, "the whole output, rows: 30,000 (o folds it)", "  1\n", "  2\n")


async def test_the_plain_line_needs_a_bang_and_says_so() -> None:
    async with console() as (app, pilot):
        await type_line(app, pilot, "make test")
        await shows(app, pilot, "begin with !")
        assert app.transcript.cards == []


async def test_history_and_completion_on_the_line(tmp_path: Path) -> None:
    (tmp_path / "report.txt").touch()
    async with console(cwd=str(tmp_path)) as (app, pilot):
        await type_line(app, pilot, "!true")
        await shows(app, pilot, "✓ ! true")
        typed: Any = app.query_one("#typed")
        typed.focus()
        await pilot.press("up")
        assert typed.value == "!true"
        await pilot.press("down")
        assert typed.value == ""
        typed.value = "!cat rep"
        typed.cursor_position = 8
        await pilot.press("tab")
        await until(pilot, lambda: typed.value == "!cat report.txt ")


async def test_light_and_dark_and_the_key_help() -> None:
    async with console(size=(80, 24)) as (app, pilot):
        assert app.current_theme.dark
        await pilot.press("ctrl+t")
        assert not app.current_theme.dark
        await pilot.press("f1")
        await shows(app, pilot, "Keys", "!cmd", "Esc closes")
        await pilot.press("escape")


@pytest.mark.parametrize("size", [(80, 24), (60, 16), (200, 60)])
async def test_every_part_fits_the_terminal(size: tuple[int, int], tmp_path: Path) -> None:
    async with console(size=size, cwd=str(tmp_path)) as (app, pilot), nacre.Tool("workspace", cwd=tmp_path) as tool:
        await tool.call({"command": "seq 30; echo " + "word " * 60})
        screen = await shows(app, pilot, "✓ $" if size[1] > 20 else "exit 0", "❯", "f1 Help")
        assert max(map(len, screen.splitlines())) <= size[0]
        assert len(screen.splitlines()) == size[1]


# Ten seconds and more of a flood: on one Python, beside the other parts.
@pytest.mark.parts
async def test_a_flood_is_drawn_at_the_frame_rate_and_keys_are_answered(tmp_path: Path) -> None:
    async with console() as (app, pilot), nacre.Tool("workspace", cwd=tmp_path) as tool:
        call = asyncio.create_task(tool.call({"command": "yes"}))
        await shows(app, pilot, "y\n", "running")
        typed: Any = app.query_one("#typed")
        typed.focus()
        names = {"!": "exclamation_mark", " ": "space"}
        for character in "!still typing":
            await pilot.press(names.get(character, character))
        assert typed.value == "!still typing"
        held = sum(len(card.tail.text) for card in app.transcript.cards)
        assert held <= 512 * 1024
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)


async def test_calls_go_on_behind_the_help_page(tmp_path: Path) -> None:
    async with console() as (app, pilot), nacre.Tool("workspace", cwd=tmp_path) as tool:
        await pilot.press("f1")
        await shows(app, pilot, "Esc closes")
        await tool.call({"command": "echo behind"})
        await until(pilot, lambda: app.transcript.cards and not app.transcript.cards[0].running)
        app.show_head()
        await pilot.press("escape")
        await shows(app, pilot, "✓ $ echo behind")


async def test_a_key_in_the_transcript_that_begins_a_line_is_its_beginning() -> None:
    async with console() as (app, pilot):
        app.transcript.focus()
        await pilot.press("exclamation_mark", "l", "s")
        typed: Any = app.query_one("#typed")
        assert typed.value == "!ls"
