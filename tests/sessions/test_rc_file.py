"""The user's rc is read in the background and never cut off: a call goes on without it, a later one has it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import nacre
from nacre.sessions import rc_file
from nacre.warden import children

PATIENCE_SECONDS = 30.0
SLOW = "takes long to read: this command runs without its functions, aliases and PATH"


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory; `go` in it lets an rc that waits go on."""
    path = tmp_path / "user"
    path.mkdir()
    os.mkfifo(path / "go")
    monkeypatch.setenv("HOME", str(path))
    return path


def write_rc(user: Path, text: str) -> None:
    (user / rc_file.RC_NAME).write_text(text, encoding="utf-8")


async def eventually(path: Path, *, exists: bool = True) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while path.exists() is not exists:
            await asyncio.sleep(0.01)


def go(user: Path) -> None:
    """Let the rc go on; its shell waits for that line, so the fifo has a reader."""
    with open(user / "go", "w", encoding="utf-8") as fifo:
        fifo.write("go\n")


@pytest.fixture
async def tool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[nacre.Tool]:
    monkeypatch.setattr(rc_file, "BUDGET_SECONDS", 0.3)
    async with nacre.Tool("workspace", cwd=tmp_path, settings=nacre.Settings()) as made:
        yield made


async def say(tool: nacre.Tool, command: str) -> str:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return (await tool.call({"command": command})).text


async def has_it(tool: nacre.Tool, command: str, sign: str) -> str:
    """The first answer that shows the sign: the result comes when its shell has ended."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while sign not in (text := await say(tool, command)):
            await asyncio.sleep(0.02)
    return text


async def test_a_call_goes_on_without_a_slow_rc_and_a_later_one_has_it(
    user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_rc(
        user,
        "touch ~/lock; read -r < ~/go; rm ~/lock\n"
        "alias greet='echo hello'; word=world; shout() { echo ${word^^}; }; mine() { echo rc; }\n"
        "PATH=$PATH:/rc; shopt -s globstar; set -o noclobber\n",
    )
    monkeypatch.setattr(rc_file, "BUDGET_SECONDS", 0.3)
    async with nacre.Tool("workspace", cwd=tmp_path, settings=nacre.Settings()) as tool:
        text = await say(tool, "type -t greet shout; mine() { echo own; }; cd /; kept=1; echo first")
        assert text.startswith("first\n")
        assert SLOW in text
        # Its shell has not been touched: the lock that it will remove is there.
        assert (user / "lock").exists()
        assert SLOW not in await say(tool, "echo second")
        go(user)
        text = await has_it(tool, "greet you; shout; mine; pwd; echo $kept ${PATH##*:}", "hello")
        assert text.startswith("hello you\nWORLD\nown\n/\n1 /rc\n")
        assert not (user / "lock").exists()
        # It stays, in this session and for the next.
        assert (await say(tool, "shout; shopt -q globstar && [[ -o noclobber ]] && echo both on")).startswith(
            "WORLD\nboth on\n"
        )
        async with nacre.Tool("workspace", cwd=tmp_path, settings=nacre.Settings()) as other:
            text = await say(other, "shout")
        assert text.startswith("WORLD\n")
        assert SLOW not in text


async def test_a_path_that_the_session_has_set_stays(user: Path, tool: nacre.Tool) -> None:
    write_rc(user, "read -r < ~/go; PATH=$PATH:/rc; late() { echo late; }\n")
    await say(tool, "PATH=/mine:$PATH")
    go(user)
    assert "/mine:" in await has_it(tool, "late; echo $PATH", "late")


async def test_a_session_that_ends_at_a_failure_takes_the_late_rc_without_one(user: Path, tool: nacre.Tool) -> None:
    write_rc(user, "read -r < ~/go; late() { echo $unset_one; }\n")
    await say(tool, "set -eu; value=1")
    go(user)
    text = await has_it(tool, "type -t late || true; echo $value", "function")
    assert text.startswith("function\n1\n")
    assert "new shell" not in text


async def test_it_is_read_before_the_first_call(user: Path, tmp_path: Path) -> None:
    write_rc(user, "touch ~/begun\n")
    async with nacre.Tool("workspace", cwd=tmp_path, settings=nacre.Settings()):
        await eventually(user / "begun")


async def test_it_is_read_once_for_all_sessions_of_a_program(user: Path, tmp_path: Path) -> None:
    write_rc(user, "echo x >> ~/times; f() { echo f; }\n")

    async def one() -> str:
        async with nacre.Tool("workspace", cwd=tmp_path, settings=nacre.Settings()) as tool:
            return await say(tool, "f")

    assert [text[:2] for text in await asyncio.gather(*(one() for _ in range(4)))] == ["f\n"] * 4
    assert (user / "times").read_text(encoding="utf-8") == "x\n"


async def test_an_rc_that_never_ends_is_asked_to_end_then_killed_and_said(
    user: Path, tool: nacre.Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rc_file, "LIMIT_SECONDS", 1.0)
    monkeypatch.setattr(rc_file, "GRACE_SECONDS", 0.3)
    write_rc(user, "trap 'touch ~/asked' TERM\necho $$ > ~/pid\nwhile :; do :; done\n")
    assert SLOW in await say(tool, "echo hi")
    text = await has_it(tool, "echo hi", "was not read, so its functions and aliases are missing")
    assert (
        f"~/{rc_file.RC_NAME} was not read, so its functions and aliases are missing: it took longer than 1 s" in text
    )
    assert (user / "asked").exists()
    await eventually(Path("/proc", (user / "pid").read_text(encoding="utf-8").strip()), exists=False)
    assert "was not read" not in await say(tool, "echo hi")


def test_the_limits_are_two_seconds_for_a_call_and_a_minute_for_the_rc() -> None:
    assert (rc_file.BUDGET_SECONDS, rc_file.LIMIT_SECONDS, rc_file.GRACE_SECONDS) == (2.0, 60.0, 5.0)


async def test_what_ends_its_shell_or_is_no_file_costs_nothing_but_itself(user: Path, tmp_path: Path) -> None:
    # Before the tool is made: it begins to read what is there.
    write_rc(user, "exit 3\n")
    async with nacre.Tool("workspace", cwd=tmp_path, settings=nacre.Settings()) as tool:
        text = await say(tool, "echo hi")
    assert text.startswith("hi\n")
    assert "was not read, so its functions and aliases are missing: it ended the shell, or defines too much" in text
    (user / rc_file.RC_NAME).unlink()
    os.mkfifo(user / rc_file.RC_NAME)
    async with nacre.Tool("workspace", cwd=tmp_path, settings=nacre.Settings()) as other:
        text = await say(other, "echo hi")
    assert text.startswith("hi\n")
    assert SLOW not in text


async def test_nothing_of_it_is_written_to_disk(user: Path, tmp_path: Path, tool: nacre.Tool) -> None:
    write_rc(user, "f() { echo sign-of-the-rc-5711 > /dev/null; echo f; }; export OTHER=sign-of-the-rc-5711\n")
    assert (await say(tool, "f")).startswith("f\n")
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != rc_file.RC_NAME]
    assert written
    assert [path for path in written if b"sign-of-the-rc-5711" in path.read_bytes()] == []


PROGRAM = """\
import asyncio, nacre
from nacre.sessions import rc_file
rc_file.BUDGET_SECONDS = 0.3
rc_file.LIMIT_SECONDS = {limit}
rc_file.GRACE_SECONDS = 0.3
async def main():
    async with nacre.Tool("workspace") as tool:
        print((await tool.call({{"command": "echo hi"}})).text)
asyncio.run(main())
"""


def run_program(limit: float, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("NACRE_SNAPSHOT", "true")
    program = [sys.executable, "-c", PROGRAM.format(limit=limit)]
    return subprocess.run(program, capture_output=True, text=True, check=True, timeout=PATIENCE_SECONDS).stdout


async def test_a_program_that_ends_meanwhile_leaves_the_rc_to_its_end(
    user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (user / ".bashrc").write_text("touch ~/lock; read -r < ~/go; rm ~/lock\n", encoding="utf-8")
    shown = await asyncio.to_thread(run_program, 60.0, monkeypatch)
    assert shown.startswith("hi\n")
    assert SLOW in shown
    assert (user / "lock").exists()
    go(user)
    await eventually(user / "lock", exists=False)


async def test_an_rc_that_never_ends_does_not_outlive_its_minute_although_the_program_is_gone(
    user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (user / ".bashrc").write_text("trap '' TERM; echo $$ > ~/pid; while :; do :; done\n", encoding="utf-8")
    shown = await asyncio.to_thread(run_program, 2.0, monkeypatch)
    assert SLOW in shown
    pid = int((user / "pid").read_text(encoding="utf-8"))
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not children.is_zombie(pid):
            await asyncio.sleep(0.02)
