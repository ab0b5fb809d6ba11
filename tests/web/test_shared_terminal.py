"""A terminal is one screen for all browsers, and is given back with the last of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import nacre
from nacre.engine.engine import from_environment
from nacre.errors import InvalidRequestError, JobError
from nacre.screen import Span
from nacre.screen.virtual_screen import Style
from nacre.web.shared_terminal import LEAST_COLUMNS, MOST_ROWS, SharedTerminal, Terminals, row_json

PATIENCE_SECONDS = 20.0


async def until(terminal: SharedTerminal, condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():
            await terminal.board.wait(terminal.board.revision, 1)


def test_rows_are_texts_with_the_style_where_there_is_one() -> None:
    spans = (
        Span("plain "),
        Span("red", Style(fg=1, bold=True)),
        Span("x", Style(bg="#102030", inverse=True, strike=True)),
    )
    assert row_json(spans) == [["plain "], ["red", 1, None, 1], ["x", None, "#102030", 8 + 32]]


async def test_two_browsers_share_a_screen_that_ends_with_the_program() -> None:
    async with nacre.Tool("workspace") as tool:
        await tool.call({"command": "read -rp '? '; stty size; exit 3", "pty": True, "async": True})
        terminals = Terminals(from_environment().jobs, lambda _: None)
        with terminals.viewing("bg_1") as first, terminals.viewing("bg_1") as second:
            assert first is second is terminals.get("bg_1")
            await until(first, lambda: first.state["waiting"])
            assert first.state["waiting"] == {"text": "?", "hidden": False}
            # Sizes that no program can be expected to work with are not passed on.
            await first.take([{"size": [1, 9999]}, {"key": "enter"}])
            await until(first, lambda: first.state["ended"])
            rows = first.news(0)["rows"]
            assert any(f"{MOST_ROWS} {LEAST_COLUMNS}" in "".join(span[0] for span in row) for row in rows.values())
            assert first.state["ended"] == "exit code 3"
            assert first.news(first.board.revision) == {}
        with pytest.raises(JobError, match="not open in a browser"):
            terminals.get("bg_1")


@pytest.mark.parametrize(
    "item",
    [
        "text",
        {"text": 1},
        {"size": [80]},
        {"mouse": ["press", 1, 2, 3]},
        {"mouse": ["jump", 1, 2, 3], "modifiers": []},
        {"mouse": ["press", 9, 2, 3], "modifiers": []},
        {"mouse": ["press", 1, -2, 3], "modifiers": []},
    ],
)
async def test_what_no_person_does_at_a_terminal_is_refused(item: object) -> None:
    async with nacre.Tool("workspace") as tool:
        await tool.call({"command": "read -r", "pty": True, "async": True})
        terminals = Terminals(from_environment().jobs, lambda _: None)
        with terminals.viewing("bg_1") as terminal:
            with pytest.raises(InvalidRequestError, match="input must be a list of"):
                await terminal.take([item])
            # A program that did not ask for the mouse gets none of it.
            await terminal.take([{"mouse": ["press", 1, 2, 3], "modifiers": ["ctrl"]}, {"key": "enter"}])
            await until(terminal, lambda: terminal.state["ended"])
            assert terminal.state["ended"] == "exit code 0"


async def test_a_job_without_a_terminal_has_no_screen() -> None:
    async with nacre.Tool("workspace") as tool:
        await tool.call({"command": "true", "async": True})
        terminals = Terminals(from_environment().jobs, lambda _: None)
        with pytest.raises(JobError, match="has no terminal"), terminals.viewing("bg_1"):
            pass
