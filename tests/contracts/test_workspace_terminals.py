"""`pty: true` (D13, D19): which calls have a terminal, what it is, and what is told when it waits for input."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest
from workbench import PATIENCE_SECONDS, Workbench

from nacre.contracts.contract import Reply
from nacre.feed.follower import Follower
from nacre.planning.terminal_variables import SWITCHED_OFF, WITHOUT_UI
from nacre.settings import JobSettings, Settings, TerminalSettings

SECRET = "correct-horse-battery-st"
TERMINAL = "[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo terminal || echo pipes"


async def typed(bench: Workbench, job_id: str, text: str) -> None:
    reply = await bench.job({"write": job_id, "text": text})
    assert not reply.is_error, reply.text


def job_of(reply: Reply) -> str:
    return str(reply.details["async"]["jobId"])


# The mode table: which calls have a terminal.


async def test_a_call_with_a_ui_has_a_terminal(bench: Workbench) -> None:
    reply = await bench.call({"command": f"{TERMINAL}; tty; echo $TERM; stty size", "pty": True}, ui=True)
    first, device, term, size = reply.text.splitlines()[:4]
    assert (first, term, size, reply.is_error) == ("terminal", "xterm-256color", "40 120", False)
    assert device.startswith("/dev/pts/")
    assert bench.jobs.list().jobs == ()


async def test_a_call_without_a_ui_has_pipes_and_a_notice_that_names_async(bench: Workbench) -> None:
    reply = await bench.call({"command": TERMINAL, "pty": True})
    assert reply.text.splitlines()[0] == "pipes"
    assert WITHOUT_UI in reply.text.splitlines()
    assert "async: true" in WITHOUT_UI


async def test_terminals_that_are_switched_off_are_pipes_with_a_notice(bench: Workbench) -> None:
    off = Settings(pty=TerminalSettings(no_pty=True))
    reply = await bench.call({"command": TERMINAL, "pty": True}, off, ui=True)
    assert reply.text.splitlines()[0] == "pipes"
    assert SWITCHED_OFF in reply.text.splitlines()


async def test_a_call_without_pty_has_no_terminal_although_there_is_a_ui(bench: Workbench) -> None:
    reply = await bench.call({"command": TERMINAL}, ui=True)
    assert reply.text.splitlines()[0] == "pipes"


async def test_a_job_has_a_terminal_without_a_ui(bench: Workbench) -> None:
    job_id = job_of(await bench.call({"command": TERMINAL, "pty": True, "async": True}))
    await bench.ended(job_id)
    assert bench.output(job_id) == "terminal\n"


async def test_a_viewer_with_a_person_is_a_ui_and_one_without_is_none(bench: Workbench) -> None:
    async with Follower(str(bench.home)):
        assert (await bench.call({"command": TERMINAL, "pty": True})).text.startswith("pipes")
    async with Follower(str(bench.home), person=True):
        assert (await bench.call({"command": TERMINAL, "pty": True})).text.startswith("terminal")


async def test_a_failure_is_told_as_everywhere(bench: Workbench) -> None:
    reply = await bench.call({"command": "echo no; exit 3", "pty": True}, ui=True)
    assert (reply.is_error, reply.details["exitCode"]) == (True, 3)
    assert reply.text.endswith("Command exited with code 3")


# The environment.


async def test_pagers_and_prompts_are_switched_off_only_where_no_person_watches(bench: Workbench) -> None:
    command = "echo ${PAGER-unset} ${CI-unset} $TERM"
    with_person = await bench.call({"command": command, "pty": True}, ui=True)
    own = [os.environ.get(name, "unset") for name in ("PAGER", "CI")]
    assert with_person.text.splitlines()[0].split() == [*own, "xterm-256color"]
    job_id = job_of(await bench.call({"command": command, "pty": True, "async": True}))
    await bench.ended(job_id)
    assert bench.output(job_id) == "cat true xterm-256color\n"


async def test_variables_of_the_call_win_on_a_terminal(bench: Workbench) -> None:
    call = {"command": "echo $PAGER $TERM", "pty": True, "env": {"PAGER": "cat", "TERM": "vt100"}}
    assert (await bench.call(call, ui=True)).text.splitlines()[0] == "cat vt100"


async def test_a_terminal_command_begins_with_the_sessions_state_and_keeps_its_changes_to_itself(
    bench: Workbench, tmp_path: Path
) -> None:
    async with bench.tool(ui=True) as tool:
        await tool.call({"command": f"cd {tmp_path}; exported=1; export exported; greet() {{ echo hello $1; }}"})
        reply = await tool.call({"command": "pwd; echo $exported; greet Bob; cd /; exported=2", "pty": True})
        assert reply.text.splitlines()[:3] == [str(tmp_path), "1", "hello Bob"]
        after = await tool.call({"command": "pwd; echo $exported"})
        assert after.text.splitlines()[:2] == [str(tmp_path), "1"]


# Output.


async def test_the_view_has_neither_escapes_nor_carriage_returns_and_nothing_is_lost(bench: Workbench) -> None:
    reply = await bench.call({"command": "printf '\\033[31mred\\033[0m\\nnext\\n'", "pty": True}, ui=True)
    assert reply.text.splitlines()[:2] == ["red", "next"]
    reply = await bench.call({"command": "seq 200000", "pty": True, "tail": 2}, ui=True)
    assert reply.text.splitlines()[:2] == ["199999", "200000"]
    artifact = bench.home / "artifacts"
    assert any(b"1\r\n2\r\n3\r\n" in file.read_bytes() for file in artifact.iterdir() if file.is_file())


async def test_a_hidden_value_stays_hidden_on_a_terminal(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", SECRET)
    reply = await bench.call({"command": f"echo {SECRET}", "pty": True}, ui=True)
    assert SECRET not in json.dumps(reply.json())
    assert not holds(bench.home, SECRET)


async def test_what_the_guard_denies_is_denied_on_a_terminal(bench: Workbench) -> None:
    reply = await bench.call({"command": "rm -rf /", "pty": True, "async": True})
    assert reply.is_error
    assert "no_dangerous_rm" in reply.text


# Waiting for input.


async def test_a_foreground_command_that_waits_becomes_a_job_and_the_model_is_told(bench: Workbench) -> None:
    reply = await bench.call({"command": "read -rp 'Your name: ' name; echo hello $name", "pty": True}, ui=True)
    job_id = job_of(reply)
    assert reply.details["waitingFor"] == {"prompt": "Your name:", "hidden": False}
    assert reply.text.startswith("Your name:\n\n")
    # The prompt is the last line of the output above; it is not said again.
    assert f'\nIt waits for input (to answer: job {{"write": "{job_id}", "text": "…\\n"}})\n' in reply.text
    await typed(bench, job_id, "Bob\n")
    await bench.ended(job_id)
    assert bench.output(job_id) == "Your name: Bob\nhello Bob\n"


@pytest.mark.parametrize(
    ("command", "prompt", "hidden"),
    [
        ("read -rp 'Weiter? [j/N] ' x", "Weiter? [j/N]", False),
        ("read -rsp 'Пароль: ' x", "Пароль:", True),
        ("printf 'Pass'; sleep 0.2; printf 'word: '; read -rs x", "Password:", True),
        ("read -rn 1 -p 'Press a key ' x", "Press a key", False),
        ("echo 'Your name?'; cat >/dev/null", "Your name?", False),
        (f"{sys.executable} -c \"import getpass; getpass.getpass('パスワード: ')\"", "パスワード:", True),
        (f"{sys.executable} -c \"input('in Python: ')\"", "in Python:", False),
        ("(sleep 100 & read -rp 'with a sleeper: ' x)", "with a sleeper:", False),
        ("bash -c \"read -rp 'of a child: ' x\"; true", "of a child:", False),
    ],
)
async def test_a_prompt_is_noticed_by_the_kernels_view(
    command: str, prompt: str, hidden: bool, bench: Workbench
) -> None:
    job_id = job_of(await bench.call({"command": command, "pty": True, "async": True}))
    reply = await bench.job({"poll": [job_id], "wait": 30})
    assert (reply.details["reason"], reply.details["by"]) == ("waiting", job_id)
    assert reply.details["waitingFor"] == {"prompt": prompt, "hidden": hidden}
    await bench.job({"cancel": [job_id]})


@pytest.mark.parametrize(
    "command",
    [
        "printf 'Enter password: '; sleep 1.2",
        "printf 'password: '; sleep 1.2 | cat",
        "for i in 1 2 3 4 5 6; do printf 'password %s? ' $i; sleep 0.2; done",
        "stty -echo; printf 'busy... '; sleep 1.2; stty echo",
    ],
)
async def test_text_that_only_looks_like_a_prompt_is_none(command: str, bench: Workbench) -> None:
    reply = await bench.call({"command": command, "pty": True}, ui=True)
    assert "async" not in reply.details
    assert "waitingFor" not in reply.details


async def test_the_feed_tells_that_a_job_waits_and_that_it_waits_no_more(bench: Workbench) -> None:
    async with Follower(str(bench.home), person=True) as feed, asyncio.timeout(PATIENCE_SECONDS):
        call = {"command": "read -rsp 'Password: ' x; sleep 100", "pty": True, "async": True}
        job_id = job_of(await bench.call(call))
        waitings = (event async for event in feed if event["event"] == "waiting")
        waiting = await anext(waitings)
        assert (waiting["prompt"], waiting["hidden"]) == ("Password:", True)
        feed.write_job(job_id, f"{SECRET}\r".encode())
        waiting = await anext(waitings)
        assert waiting["prompt"] is None
    await bench.job({"cancel": [job_id]})


def holds(directory: Path, text: str) -> list[Path]:
    """The files below that hold the text."""
    return [path for path in directory.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


async def test_what_is_typed_at_a_hidden_prompt_is_recorded_nowhere(bench: Workbench) -> None:
    reply = await bench.call({"command": "read -rsp 'Password: ' x; echo; echo ${#x}", "pty": True}, ui=True)
    job_id = job_of(reply)
    replies = [reply, await bench.job({"write": job_id, "text": f"{SECRET}\n"})]
    await bench.ended(job_id)
    replies += [
        await bench.job(arguments)
        for arguments in ({"read": job_id}, {"read": job_id, "screen": True}, {"poll": [job_id]}, {"list": True})
    ]
    assert bench.output(job_id) == f"Password: \n{len(SECRET)}\n"
    assert (bench.home / "jobs" / job_id / "session.cast").exists()
    assert holds(bench.home, SECRET) == []
    assert SECRET not in json.dumps([one.json() for one in replies])


async def test_the_size_of_another_terminal_is_not_believed(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "33")
    monkeypatch.setenv("LINES", "11")
    command = "echo ${COLUMNS-none} ${LINES-none}; stty size"
    reply = await bench.call({"command": command, "pty": True}, ui=True)
    assert "none none\n40 120" in reply.text


async def test_a_terminal_command_that_outlives_the_window_goes_on_as_a_job(bench: Workbench) -> None:
    soon = Settings(jobs=JobSettings(auto_background_seconds=0.3))
    # It writes without an end, so that it does not wait for input.
    command = "for i in $(seq 100); do printf 'still here '; sleep 0.1; done"
    reply = await bench.call({"command": command, "pty": True}, soon, ui=True)
    job_id = job_of(reply)
    assert "waitingFor" not in reply.details
    assert "still here" in reply.text
    shown = await bench.job({"read": job_id, "screen": True})
    assert "still here still here" in shown.text
    await bench.job({"cancel": [job_id]})
    await bench.ended(job_id)
