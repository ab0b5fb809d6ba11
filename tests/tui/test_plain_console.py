"""The plain console speaks in lines: nothing is redrawn, menus are numbered, agents' calls are told once."""

from __future__ import annotations

import asyncio
import io
import os
from pathlib import Path

import nacre
from nacre.engine.engine import from_environment
from nacre.tui.plain_console import PlainConsole

PATIENCE_SECONDS = 20.0


class Talk:
    """A console on a pipe: what it says, and what is typed."""

    def __init__(self, cwd: Path) -> None:
        self.said = io.StringIO()
        reading, writing = os.pipe()
        self._lines, self._typing = os.fdopen(reading, encoding="utf-8"), os.fdopen(writing, "w", encoding="utf-8")
        self.console = PlainConsole(from_environment(), cwd=str(cwd), out=self.said)

    async def __aenter__(self) -> Talk:
        self._running = asyncio.create_task(self.console.run(self._lines))
        await self.hears("Type 0 for the menu")
        await self.console._calls.following.wait()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._typing.close()
        await self._running
        self._lines.close()

    def types(self, line: str) -> None:
        self._typing.write(f"{line}\n")
        self._typing.flush()

    async def hears(self, *texts: str) -> str:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not all(text in self.said.getvalue() for text in texts):
                await asyncio.sleep(0.01)
        return self.said.getvalue()


async def test_a_command_s_output_and_end_are_told_in_lines(tmp_path: Path) -> None:
    async with Talk(tmp_path) as talk:
        talk.types("!echo hi; exit 3")
        said = await talk.hears("hi\nEnded: exit 3")
        assert "\x1b" not in said
        assert "\r" not in said


async def test_the_end_of_input_lets_the_last_command_end(tmp_path: Path) -> None:
    async with Talk(tmp_path) as talk:
        talk.types("!sleep 0.2; echo done")
    assert "done\nEnded: exit 0" in talk.said.getvalue()


async def test_an_agent_s_call_is_told_once_and_read_by_number(tmp_path: Path) -> None:
    async with Talk(tmp_path) as talk, nacre.Tool("workspace", cwd=tmp_path) as tool:
        await tool.call({"command": "seq 30000"})
        said = await talk.hears("Began: seq 30000.", "Ended: seq 30000: exit 0")
        assert said.count("seq 30000") == 2
        talk.types("0")
        await talk.hears("Menu:\n1. calls\n2. jobs\n3. open questions")
        talk.types("1")
        await talk.hears("Calls:\n1. seq 30000: exit 0")
        talk.types("1")
        await talk.hears("2. read its whole output")
        talk.types("2")
        said = await talk.hears("End of output.")
        assert "\n1\n2\n3\n" in said
        assert "\n29999\n30000\nEnd of output." in said


async def test_a_risky_command_is_asked_about_in_words(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    async with Talk(tmp_path) as talk:
        talk.types("!rm -rf .git")
        await talk.hears("Type yes to run it all the same")
        talk.types("no")
        await talk.hears("Ended: denied")
        assert (tmp_path / ".git").exists()


async def test_what_is_not_understood_names_the_next_step(tmp_path: Path) -> None:
    async with Talk(tmp_path) as talk:
        talk.types("make test")
        await talk.hears("Not understood: begin with !")
        talk.types("77")
        await talk.hears("There is no 77 in the last list. Type 0 for the menu.")
