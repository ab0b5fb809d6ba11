"""A program on a terminal: what it shows is found however it comes, and nothing of it is left when it ends."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import nacre
from nacre.adapters.relayed_terminal import INTERRUPT, Met, Shown, TerminalProgram

PATIENCE_SECONDS = 30.0


def shown(*pieces: bytes, most: int = 1000) -> Shown:
    made = Shown(most)
    for piece in pieces:
        made.feed(1, memoryview(piece))
    return made


def patterns(*texts: str) -> list[re.Pattern[str]]:
    return [re.compile(text, re.DOTALL) for text in texts]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_what_is_expected_is_found_in_pieces_of_any_size(size: int) -> None:
    data = "zwei é>>> drei".encode()
    text = Shown(1000)
    met = None
    for start in range(0, len(data), size):
        text.feed(1, memoryview(data[start : start + size]))
        met = met or text.take_until(patterns(">>> "))
    assert met == Met("zwei é", ">>> ")
    assert text.take() == "drei"


def test_of_several_the_first_place_counts_and_then_the_first_expression() -> None:
    assert shown(b"abc").take_until(patterns("c", "b")) == Met("a", "b")
    assert shown(b"abc").take_until(patterns("b", "bc")) == Met("a", "b")
    assert shown(b"abc").take_until(patterns("x")) is None


def test_only_the_newest_is_held_and_the_rest_counted() -> None:
    text = shown(b"12345", b"678", most=6)
    assert text.take_until(patterns("2")) is None
    text.feed(1, memoryview(b"9"))
    assert text.take_until(patterns("8")) == Met("[… 3 characters omitted …]\n4567", "8")
    assert text.take() == "9"


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[nacre.Session]:
    async with nacre.Session(cwd=tmp_path) as session:
        yield session


def start(session: nacre.Session, command: str) -> TerminalProgram:
    return TerminalProgram(session, command, timeout=60, most_characters=100_000)


async def test_a_program_is_typed_to_until_it_ends(session: nacre.Session) -> None:
    program = start(session, "read -p 'name? ' name; echo hi $name; tty >/dev/null; exit $((3 + $?))")
    assert await program.wait_for(patterns(r"\? "), PATIENCE_SECONDS) == Met("name", r"\? ")
    program.type("Bob\n")
    assert await program.wait_for([], PATIENCE_SECONDS) == Met("hi Bob\r\n", None)
    assert program.result().exit_code == 3
    program.type("to nobody\n")


async def test_nothing_is_taken_by_who_waits_in_vain(session: nacre.Session) -> None:
    program = start(session, "echo begun; exec cat")
    assert await program.wait_for(patterns("begun"), PATIENCE_SECONDS) == Met("", "begun")
    program.type("more\n")
    assert await program.wait_for(patterns("never"), 0.05) is None
    assert await program.wait_for(patterns("more"), PATIENCE_SECONDS) == Met("\r\n", "more")
    program.type(INTERRUPT)
    met = await program.wait_for([], PATIENCE_SECONDS)
    assert met is not None
    assert program.result().exit_code == 130


async def test_an_end_leaves_nothing_and_costs_the_session_nothing(session: nacre.Session) -> None:
    await session.run("x=5")
    program = start(session, "setsid -f sleep 600; echo begun; sleep 600")
    assert await program.wait_for(patterns("begun"), PATIENCE_SECONDS) is not None
    await program.end()
    assert not program.running
    assert (await session.run("echo $x")).text == "5\n"


async def test_a_denied_program_is_not_started(session: nacre.Session) -> None:
    program = start(session, "git push --force")
    assert await program.wait_for([], PATIENCE_SECONDS) == Met("", None)
    with pytest.raises(nacre.DeniedError):
        program.result()


async def test_two_may_wait_at_once(session: nacre.Session) -> None:
    program = start(session, "read line; exit 4")
    waiting = [asyncio.create_task(program.wait_for([], PATIENCE_SECONDS)) for _ in range(2)]
    program.type("\n")
    assert [met is not None and met.pattern for met in await asyncio.gather(*waiting)] == [None, None]
