"""`nacre watch` shows calls as they run and as they end, in a real terminal and as plain lines."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import nacre
from nacre.feed import directory_of
from nacre.tool import Tool

PATIENCE_SECONDS = 30.0


def _wait(wanted: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not wanted():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def _announced(home: Path) -> bool:
    feed = Path(directory_of(str(home)))
    return feed.exists() and any(not one.name.startswith(".") for one in feed.iterdir())


class Terminal:
    """`nacre watch` in tmux."""

    def __init__(self, socket: Path, home: Path, arguments: str) -> None:
        self._socket = socket
        shell = f"{sys.executable} -m nacre watch {arguments}; stty -a | grep -o ' -\\?icanon'; echo LEFT $?; cat"
        self._tmux("new-session", "-d", "-x", "80", "-y", "24", shell)
        _wait(lambda: _announced(home))

    def _tmux(self, *arguments: str) -> str:
        command = ["tmux", "-S", str(self._socket), "-f", "/dev/null", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def press(self, key: str) -> None:
        self._tmux("send-keys", key)

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p", "-S", "-200")

    def shows(self, text: str) -> None:
        _wait(lambda: text in self.screen())

    def shows_last(self, text: str) -> None:
        """Wait until the last line that is not empty has this text."""
        _wait(lambda: text in self.screen().rstrip().rpartition("\n")[2])

    def pid(self) -> int:
        shell = self._tmux("list-panes", "-F", "#{pane_pid}").strip()
        return int(subprocess.run(["pgrep", "-P", shell], capture_output=True, text=True, check=True).stdout.split()[0])

    def close(self) -> None:
        self._tmux("kill-server")


@pytest.fixture
def terminal(tmp_path: Path, home: Path) -> Iterator[Callable[[str], Terminal]]:
    if shutil.which("tmux") is None:
        pytest.skip("needs tmux")
    opened: list[Terminal] = []

    def open_terminal(arguments: str) -> Terminal:
        opened.append(Terminal(tmp_path / "tmux", home, arguments))
        return opened[-1]

    yield open_terminal
    for one in opened:
        one.close()


async def test_a_running_call_is_shown_live_and_scrolls_by_when_it_ends(
    terminal: Callable[[str], Terminal], tmp_path: Path
) -> None:
    go = tmp_path / "go"
    os.mkfifo(go)
    watch = await asyncio.to_thread(terminal, "")
    async with Tool("workspace", cwd=tmp_path) as tool:
        call = asyncio.create_task(tool.call({"command": f"seq 30; cat {go}; exit 3"}))
        await asyncio.to_thread(watch.shows, "1 running")
        await asyncio.to_thread(watch.shows, "20 earlier lines (d shows all)")
        go.write_text("")
        await call
        await asyncio.to_thread(watch.shows, "exit 3]")
        await asyncio.to_thread(watch.shows, "0 running")
        watch.press("d")
        await asyncio.to_thread(watch.shows, "0 running · all")
        await tool.call({"command": "seq 12"})
        await asyncio.to_thread(watch.shows, "exit 0]")
    watch.press("q")
    await asyncio.to_thread(watch.shows, "LEFT 0")
    screen = watch.screen()
    assert " icanon\n" in screen
    assert "running ·" not in screen
    assert screen.index("exit 3]") < screen.index("exit 0]")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_leaves_the_terminal_clean(
    terminal: Callable[[str], Terminal], home: Path, number: signal.Signals
) -> None:
    watch = await asyncio.to_thread(terminal, "")
    await asyncio.to_thread(watch.shows, "0 running")
    os.kill(watch.pid(), number)
    await asyncio.to_thread(watch.shows, "LEFT 0")
    assert " icanon\n" in watch.screen()
    assert not _announced(home)


RULE = """\
[[rule]]
name = "ask-touch"
decision = "ask"
words = ["touch"]
reason = "This makes a file."
match = ["touch x"]
not_match = ["ls"]
"""


async def test_a_key_answers_an_approval_of_another_program(
    terminal: Callable[[str], Terminal], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(RULE, encoding="utf-8")
    monkeypatch.setenv("NACRE_RULES_FILE", str(rules))
    watch = await asyncio.to_thread(terminal, "")

    async def answered(tool: Tool, command: str, key: str, said: str) -> bool:
        call = asyncio.create_task(tool.call({"command": command}))
        await asyncio.to_thread(watch.shows, "1 running · folded · a answers")
        watch.press("a")
        await asyncio.to_thread(watch.shows, "Approve? 1 once · 2 this session · 3 always, as a rule · 4 deny")
        watch.press(key)
        reply = await call
        await asyncio.to_thread(watch.shows, f"answered: {said}")
        await asyncio.to_thread(watch.shows_last, "0 running · folded")
        return not reply.is_error

    async with Tool("workspace", cwd=tmp_path) as tool:
        long = f"true {'long ' * 30}&& touch once"
        assert await answered(tool, long, "1", "once")
        assert (tmp_path / "once").exists()
        screen = watch.screen()
        assert f"$ {long}" in screen.replace("\n", "")
        assert "The part asked about: touch once" in screen
        assert not await answered(tool, "touch denied", "4", "deny")
        assert await answered(tool, "touch session", "2", "this session")
        assert not (await tool.call({"command": "touch session"})).is_error
        assert await answered(tool, "touch always", "3", "always")
        assert not (await tool.call({"command": "touch always"})).is_error
    assert not (tmp_path / "denied").exists()
    assert "touch always" in rules.read_text(encoding="utf-8")
    watch.press("a")
    await asyncio.to_thread(watch.shows, "no command here asks for anything")
    watch.press("q")
    await asyncio.to_thread(watch.shows, "LEFT 0")


async def test_plain_lines_have_no_escapes_and_only_what_is_wanted(home: Path, tmp_path: Path) -> None:
    viewer = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "nacre", "watch", "--failed", "--cwd", str(tmp_path), stdout=subprocess.PIPE
    )
    await asyncio.to_thread(_wait, lambda: _announced(home))
    await nacre.run("echo fine", cwd=tmp_path)
    await nacre.run("echo elsewhere; false", cwd="/")
    await nacre.run("printf '\\033[31mred\\033[0m\\n'; exit 4", cwd=tmp_path)
    assert viewer.stdout is not None
    lines = [(await viewer.stdout.readline()).decode() for _ in range(3)]
    viewer.terminate()
    await viewer.wait()
    assert lines[0].startswith("$ printf")
    assert lines[1] == "  red\n"
    assert "exit 4]" in lines[2]
    assert "\x1b" not in "".join(lines)
