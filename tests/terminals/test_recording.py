"""A run on a terminal is recorded as an asciicast; `nacre log show` replays it, and what was typed is not in it."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from nacre import Tool
from terminals.tmux import NACRE, PATIENCE_SECONDS, Tmux

pytest.importorskip("pyghostty", reason="needs an emulator")


def nacre(*arguments: str, code: int = 0) -> str:
    command = [*shlex.split(NACRE), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS)
    assert done.returncode == code, done.stderr
    return done.stdout + (done.stderr if code else "")


def newest() -> dict[str, object]:
    return dict(json.loads(nacre("log", "--json").splitlines()[-1]))


SCRIPT = "printf 'one\\n'; sleep 0.2; printf '\\033[31mtwo\\033[0m\\n'; sleep 0.2; echo three"


def test_a_run_in_the_foreground_is_replayed_and_exported(tmux: Tmux) -> None:
    nacre("run", "--pty", "--", SCRIPT)
    call = str(newest()["call"])
    lines = [json.loads(line) for line in nacre("log", "show", call, "--cast").splitlines()]
    assert (lines[0]["version"], lines[0]["width"], lines[0]["height"]) == (2, 120, 40)
    assert "".join(text for _, kind, text in lines[1:] if kind == "o") == ("one\r\n\x1b[31mtwo\x1b[0m\r\nthree\r\n")
    times = [seconds for seconds, _, _ in lines[1:]]
    assert times == sorted(times)
    assert times[-1] >= 0.4
    pane = tmux.start(f"{NACRE} log show {call} --speed 4; echo LEFT $?; cat")
    pane.wait_for("LEFT 0")
    screen = pane.screen(scrollback=True)
    assert "one\ntwo\nthree\nLEFT 0" in screen
    assert '"exited"' in screen
    assert pane.fact("alternate_on") == "0"


def test_a_replay_takes_the_time_that_it_took_and_is_left_with_a_key(tmux: Tmux) -> None:
    nacre("run", "--pty", "--", "printf '\\033[?1049hA SCREEN'; sleep 1.2; printf '\\033[?1049l'; echo back")
    pane = tmux.start(f"{NACRE} log show --speed 0.2; echo LEFT $?; cat")
    pane.wait_for("A SCREEN")
    pane.wait_for("q leaves")
    assert pane.fact("alternate_on") == "1"
    pane.send("q")
    pane.wait_for("LEFT 0")
    assert pane.fact("alternate_on") == "0"


async def test_a_job_keeps_its_recording(tmp_path: Path) -> None:
    async with Tool("workspace", cwd=tmp_path) as tool, Tool("job") as job:
        reply = await tool.call({"command": "read -p 'Name? ' x; echo hello $x", "pty": True, "async": True})
        job_id = reply.details["async"]["jobId"]
        await job.call({"poll": [job_id], "wait": 20})
        await job.call({"write": job_id, "text": "Ada\n"})
        await job.call({"poll": [job_id], "wait": 20})
    events = [json.loads(line) for line in nacre("log", "show", job_id, "--cast").splitlines()[1:]]
    assert {kind for _, kind, _ in events} == {"o"}
    assert "hello Ada" in "".join(text for _, _, text in events)


def test_a_run_that_was_not_recorded_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NACRE_PTY_RECORD", "false")
    nacre("run", "--pty", "--", "echo hi")
    assert "recording" not in newest()
    assert "this call has no recording" in nacre("log", "show", "--cast", code=2)


def test_sizes_are_recorded(tmux: Tmux) -> None:
    # A `read` whose time runs out may lose the line that has just come.
    traps = 'trap "stty size" WINCH; trap "exit 0" INT'
    pane = tmux.start(f"{NACRE} run --pty -- '{traps}; echo up; while :; do sleep 0.1; done'")
    pane.wait_for("up")
    pane.resize(100, 30)
    pane.wait_for("30 100")
    pane.send("C-c")
    assert pane.exit_code() == 0
    events = [json.loads(line) for line in nacre("log", "show", "--cast").splitlines()[1:]]
    assert [text for _, kind, text in events if kind == "r"][-1:] == ["100x30"]


def test_what_is_no_speed_is_refused() -> None:
    assert "--speed must be above 0" in nacre("log", "show", "--speed", "0", code=2)
