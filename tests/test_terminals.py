"""`nacre.open_terminal`: a program types into a terminal, resizes it and reads its screen, without a window."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import nacre
from nacre.errors import DeniedError, JobError
from nacre.jobs.table import JobTable
from nacre.settings import Settings, TerminalSettings
from nacre.terminals import NoTerminalError

pytest.importorskip("pyghostty", reason="needs an emulator")


async def test_a_prompt_is_answered_and_the_result_is_that_of_any_run(home: Path) -> None:
    async with nacre.open_terminal("read -p 'Name? ' name; echo Hello $name; exit 4") as terminal:
        await terminal.until("Name?")
        await terminal.until(lambda _: terminal.waiting is not None)
        assert terminal.waiting is not None
        assert (terminal.waiting.prompt, terminal.waiting.hidden) == ("Name?", False)
        terminal.write("Ada\r")
        result = await terminal.wait()
    assert (result.exit_code, result.text) == (4, "Name? Ada\nHello Ada\n")
    assert JobTable(home).list().jobs == ()


async def test_keys_and_sizes_reach_the_program() -> None:
    async with nacre.open_terminal("python3 -q", columns=60, rows=12) as terminal:
        await terminal.until(">>>")
        terminal.write("import os; tuple(os.get_terminal_size())\r")
        await terminal.until("(60, 12)")
        terminal.resize(90, 20)
        terminal.press("up")
        terminal.press("enter")
        await terminal.until("(90, 20)")
        terminal.press("ctrl+d")
        assert (await terminal.wait()).exit_code == 0


async def test_a_full_screen_program_is_read_as_its_screen() -> None:
    async with nacre.open_terminal("vim -u NONE", columns=40, rows=10) as terminal:
        await terminal.until("~")
        terminal.write("ione two")
        screen = await terminal.until("one two")
        assert screen.splitlines()[1:4] == ["~", "~", "~"]
        terminal.press("escape")
        terminal.write(":q!\r")
        assert (await terminal.wait()).exit_code == 0


async def test_leaving_ends_the_command_and_everything_it_started(home: Path) -> None:
    async with nacre.open_terminal("sleep 1000 & echo up; sleep 1000") as terminal:
        await terminal.until("up")
    # The fixture that every test has finds what is left.
    with pytest.raises(asyncio.CancelledError):
        await terminal.wait()
    assert JobTable(home).list().jobs == ()


async def test_the_time_limit_is_that_of_any_run() -> None:
    async with nacre.open_terminal("echo begun; sleep 1000", timeout=1) as terminal:
        result = await terminal.wait()
    assert isinstance(result.outcome, nacre.TimedOut)
    assert result.text == "begun\n"


async def test_a_flood_leaves_the_screen_readable_and_nothing_of_it_is_lost() -> None:
    async with nacre.open_terminal("seq 400000", columns=40, rows=5) as terminal:
        result = await terminal.wait()
        assert terminal.screen().splitlines()[:4] == ["399997", "399998", "399999", "400000"]
    # A terminal ends each line with two characters.
    assert result.output.total_bytes == sum(len(str(number)) + 2 for number in range(1, 400001))
    assert result.output.artifact is not None


async def test_a_paste_longer_than_the_terminals_buffer_arrives_whole(tmp_path: Path) -> None:
    text = "".join(f"line {number}\r" for number in range(4000))
    command = f"stty -echo; read -p ready x; sleep 0.3; head -n 4000 > {tmp_path}/pasted; echo taken"
    async with nacre.open_terminal(command) as terminal:
        await terminal.until("ready")
        terminal.write("\r" + text)
        await terminal.until("taken")
        await terminal.wait()
    assert (tmp_path / "pasted").read_text() == text.replace("\r", "\n")


async def test_the_guard_and_the_redaction_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DeniedError):
        async with nacre.open_terminal("rm -rf /"):
            pass
    monkeypatch.setenv("SERVICE_TOKEN", "s3cr3t-value-of-the-service")
    async with nacre.open_terminal("printf 'it is s3cr3t-value-of-the-service\\n'") as terminal:
        result = await terminal.wait()
        assert "s3cr3t" not in terminal.screen() + result.text


async def test_a_text_that_never_shows_is_told_at_the_end() -> None:
    async with nacre.open_terminal("echo one") as terminal:
        with pytest.raises(JobError, match="never showed 'two'"):
            await terminal.until("two")


async def test_a_terminal_that_is_switched_off_is_refused() -> None:
    settings = Settings(pty=TerminalSettings(no_pty=True))
    with pytest.raises(NoTerminalError, match="NACRE_NO_PTY"):
        async with nacre.open_terminal("true", settings=settings):
            pass


async def test_what_may_begin_a_hidden_value_is_seen_and_the_value_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "sk-value-of-the-service"
    monkeypatch.setenv("SERVICE_TOKEN", secret)
    async with nacre.open_terminal("stty -icanon -echo; echo ready; cat") as terminal:
        await terminal.until("ready")
        seen = ["ready"]
        for key in "sk-":
            terminal.write(key)
            # The program repeats it, and that does not wait for the next key.
            await terminal.until(lambda screen, before=seen[-1]: len(screen) > len(before))
            seen.append(terminal.screen())
        for key in secret[3:]:
            terminal.write(key)
        # The beginning of a value that the program never finishes is no value: it must have repeated all of it.
        await terminal.until("redacted")
        terminal.write("\x04")
        terminal.press("ctrl+c")
        result = await terminal.wait()
        assert "value-of-the" not in terminal.screen() + result.text


async def test_a_value_that_comes_byte_by_byte_is_hidden_but_for_its_first_three(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    secret = "sk-value-of-the-service"
    monkeypatch.setenv("SERVICE_TOKEN", secret)
    script = f'for ((i = 0; i < {len(secret)}; i++)); do printf %s "${{s:i:1}}"; sleep 0.06; done; echo'
    # Not by its name: the environment of the command does not have it.
    async with nacre.open_terminal(f"s={secret}; {script}") as terminal:
        result = await terminal.wait()
    assert result.text == "sk-[redacted:SERVICE_TOKEN]\n"
