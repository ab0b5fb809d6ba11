"""`nacre watch` and its take-over key at a real terminal: a person helps any command that has a terminal."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nacre import Tool
from nacre.feed import directory_of
from nacre.jobs.job_terminal import state
from nacre.jobs.table import JobTable
from nacre.warden import children
from terminals.programs import LEAVING, PROGRAMS, SSH_STEPS, Program, ssh_server
from terminals.tmux import NACRE, Pane, Tmux

# Real programs in real terminals: on one Python, beside the other parts.
pytestmark = pytest.mark.parts

pytest.importorskip("pyghostty", reason="needs an emulator")

AFTER = "; echo LEFT $?; echo $(stty -a | grep -owE -e '-?(icanon|echo|isig|opost)').; cat"
SECRET = "correct-horse-battery-st"


def start_job(command: str) -> str:
    """Start a command on a terminal as an agent does; it outlives the program that started it."""
    arguments = {"command": command, "pty": True, "async": True}
    call = [*shlex.split(NACRE), "call", "workspace", json.dumps(arguments)]
    answer = json.loads(subprocess.run(call, capture_output=True, check=True).stdout)
    return str(answer["details"]["async"]["jobId"])


def watch(tmux: Tmux, arguments: str = "") -> Pane:
    pane = tmux.start(f"{NACRE} watch {arguments}{AFTER}")
    pane.wait_for(" running · ")
    return pane


def take_over(pane: Pane) -> None:
    pane.wait_for("1 running · ")
    pane.send("t")
    pane.wait_for("Ctrl-] gives it back")


def left(pane: Pane) -> str:
    screen = pane.wait_for(lambda screen: "LEFT 0\n" in screen and "." in screen.partition("LEFT")[2])
    assert sorted(screen.partition("LEFT")[2].split("\n")[1].strip(".").split()) == ["echo", "icanon", "isig", "opost"]
    facts = ("alternate_on", "cursor_flag", "mouse_any_flag", "keypad_cursor_flag", "keypad_flag")
    assert [pane.fact(name) for name in facts] == ["0", "1", "0", "0", "0"]
    return screen


def end_of(home: Path, job_id: str) -> dict[str, Any]:
    return dict(JobTable(home).get(job_id).record)


@pytest.fixture(params=["ghostty", "pyte"])
def emulator(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What draws the screens; pyte does where the library of pyghostty does not load, as on a system without wheels."""
    if request.param == "pyte":
        broken = tmp_path / "broken"
        broken.mkdir()
        (broken / "pyghostty.py").write_text("raise OSError('no library for this system')\n", encoding="utf-8")
        monkeypatch.setenv("PYTHONPATH", str(broken))
    chosen = "from nacre.screen import open_screen; print(open_screen(80, 24).emulator)"
    done = subprocess.run([sys.executable, "-c", chosen], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == request.param
    return str(request.param)


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
@pytest.mark.usefixtures("emulator")
def test_a_program_works_when_it_is_taken_over(tmux: Tmux, program: Program, tmp_path: Path, home: Path) -> None:
    job_id = start_job(program.prepare(tmp_path))
    pane = watch(tmux, job_id)
    take_over(pane)
    program.use(pane)
    pane.send(*LEAVING.get(program.name, ()))
    screen = left(pane)
    assert "exit 0]" in screen
    assert end_of(home, job_id)["exitCode"] == 0
    if program.name == "vim":
        assert (tmp_path / "note").read_text() == "the first line\nsecond\n"


def test_the_question_of_ssh_about_a_host_key_is_answered(tmux: Tmux, tmp_path: Path) -> None:
    with ssh_server(tmp_path) as client:
        pane = watch(tmux, start_job(client))
        pane.wait_for("waits for input")
        take_over(pane)
        Program("ssh", client, SSH_STEPS).use(pane)
        pane.send("C-d")
        left(pane)


def test_giving_it_back_leaves_the_command_as_it_is(tmux: Tmux, home: Path) -> None:
    job_id = start_job("cat")
    size = state(JobTable(home).get(job_id))
    pane = watch(tmux, job_id)
    take_over(pane)
    pane.type("typed")
    pane.send("Enter")
    pane.wait_for("typed\ntyped\n")
    pane.send("Escape")
    pane.wait_for("^[")
    pane.send("C-]")
    pane.wait_for("1 running · ")
    assert pane.fact("alternate_on") == "0"
    now = state(JobTable(home).get(job_id))
    assert size is not None
    assert now is not None
    assert now.size == size.size
    pane.send("x")
    pane.wait_for("x again stops")
    pane.send("x")
    assert "cancelled]" in left(pane)


def test_a_hidden_answer_is_in_no_file_and_in_no_answer(tmux: Tmux, home: Path, tmp_path: Path) -> None:
    with open(tmp_path / "events", "wb") as file:
        events = subprocess.Popen([*shlex.split(NACRE), "events", "--follow"], stdout=file)
        try:
            _until(lambda: any(Path(directory_of(str(home))).glob("*")))
            job_id = start_job("read -rsp 'Secret: ' s; echo; echo ${#s} letters; read -rp 'More? ' x")
            pane = watch(tmux)
            pane.wait_for("waits for hidden input: Secret:")
            assert "t answers" in pane.screen()
            take_over(pane)
            pane.wait_for("waits for hidden input")
            pane.type(SECRET)
            pane.send("Enter")
            pane.wait_for("24 letters")
            assert SECRET not in pane.screen(scrollback=True)
            pane.send("Enter", "C-]")
            pane.wait_for("0 running")
            pane.send("q")
            assert SECRET not in left(pane)
            _until(lambda: b'"event": "end"' in (tmp_path / "events").read_bytes())
        finally:
            events.terminate()
            events.wait()
    seen = (tmp_path / "events").read_bytes()
    assert b"24 letters" in seen
    assert SECRET.encode() not in seen
    files = [path for path in home.rglob("*") if path.is_file()]
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
    assert any(b"24 letters" in path.read_bytes() for path in files), job_id


async def test_an_agents_call_in_the_foreground_is_answered_while_it_waits(tmux: Tmux, tmp_path: Path) -> None:
    pane = await asyncio.to_thread(watch, tmux)
    # Watch shows terminals to a person, so that the call has one although its program has no UI.
    async with Tool("workspace", cwd=tmp_path) as tool:
        reply = await tool.call({"command": "read -p 'Sure? ' x; echo it is $x; sleep 0.3", "pty": True})
        assert reply.details["waitingFor"] == {"prompt": "Sure?", "hidden": False}
        job_id = reply.details["async"]["jobId"]
        await asyncio.to_thread(take_over, pane)
        await asyncio.to_thread(pane.wait_for, "Sure?")
        pane.type("yes")
        pane.send("Enter")
        # A poll that comes before the answer has been read tells that it still waits.
        await asyncio.to_thread(pane.wait_for, "it is yes")
        answer = await Tool("job").call({"poll": [job_id], "wait": 20})
        assert "it is yes" in answer.text
    await asyncio.to_thread(pane.wait_for, "0 running")
    pane.send("q")
    await asyncio.to_thread(left, pane)


def test_what_ends_meanwhile_scrolls_by_afterwards(tmux: Tmux) -> None:
    job_id = start_job("cat")
    pane = watch(tmux)
    take_over(pane)
    subprocess.run([*shlex.split(NACRE), "run", "--", "echo meanwhile"], check=True, capture_output=True)
    assert "meanwhile" not in pane.screen()
    pane.send("C-]")
    pane.wait_for("meanwhile")
    pane.send("t")
    pane.wait_for("taken over")
    pane.send("C-d")
    pane.wait_for(lambda screen: job_id in screen and "exit 0]" in screen)
    pane.send("q")
    left(pane)


def test_a_new_size_reaches_the_program(tmux: Tmux, tmp_path: Path) -> None:
    menu = next(one for one in PROGRAMS if one.name == "curses")
    pane = watch(tmux, start_job(menu.prepare(tmp_path)))
    take_over(pane)
    # The last row is nacre's own.
    pane.wait_for("size 80x23")
    pane.resize(100, 30)
    pane.wait_for("size 100x29")
    pane.send("F2")
    left(pane)


@pytest.mark.slow
def test_a_flood_is_drawn_and_a_key_is_answered(tmux: Tmux) -> None:
    job_id = start_job("trap 'echo; echo INTERRUPTED; sleep 0.5' INT; yes")
    pane = watch(tmux, job_id)
    take_over(pane)
    pane.wait_for("y\ny\ny")
    viewer = _viewer(pane)
    sizes = []
    for _ in range(12):
        time.sleep(0.2)
        sizes.append(_resident(viewer))
    pane.send("C-c")
    pane.wait_for("INTERRUPTED")
    assert max(sizes[4:]) - sizes[4] < 8_000_000
    left(pane)


def test_a_viewer_that_is_killed_leaves_the_command_alone(tmux: Tmux, home: Path) -> None:
    job_id = start_job("read -p 'Still there? ' x; echo it is")
    pane = watch(tmux, job_id)
    take_over(pane)
    os.kill(_viewer(pane), 9)
    pane.wait_for("LEFT 137")
    # What gives the terminal back does so beside the shell; the modes of its lines: cli/test_own_terminal.py.
    _until(lambda: (pane.fact("alternate_on"), pane.fact("cursor_flag")) == ("0", "1"))
    other = watch(tmux, job_id)
    take_over(other)
    other.send("Enter")
    left(other)
    assert end_of(home, job_id)["exitCode"] == 0


def test_nothing_to_take_over_is_said(tmux: Tmux) -> None:
    pane = watch(tmux)
    pane.send("t")
    pane.wait_for("no command here has a terminal")
    pane.send("q")
    left(pane)


def test_an_id_that_does_not_run_is_refused(tmux: Tmux) -> None:
    pane = tmux.start(f"{NACRE} watch bg_77")
    assert pane.exit_code() == 2
    assert "bg_77 does not run here" in pane.screen(scrollback=True)


def _viewer(pane: Pane) -> int:
    (found,) = [
        pid for pid in children.descendants(int(pane.fact("pane_pid"))) if "watch" in children.command_line(pid)
    ]
    return found


def _resident(pid: int) -> int:
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def _until(wanted: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not wanted():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
