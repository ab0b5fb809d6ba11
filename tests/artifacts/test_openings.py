"""Which shortened outputs were opened."""

from __future__ import annotations

from pathlib import Path

import nacre
from nacre.artifacts.openings import MOST_BYTES, NAME, note_opening, opened


def test_openings_are_remembered_once_each(tmp_path: Path) -> None:
    assert opened(str(tmp_path)) == frozenset()
    for number in (7, 12, 7):
        note_opening(str(tmp_path), number)
    assert opened(str(tmp_path)) == {"7", "12"}


def test_the_notes_begin_anew_when_they_are_long(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("1\n" * MOST_BYTES, encoding="ascii")
    note_opening(str(tmp_path), 5)
    assert opened(str(tmp_path)) == {"5"}


def test_a_directory_that_takes_no_notes_costs_no_answer(tmp_path: Path) -> None:
    note_opening(str(tmp_path / "nothing"), 5)
    assert opened(str(tmp_path / "nothing")) == frozenset()


async def test_the_read_tool_notes_what_it_opens_of_shortened_outputs(home: Path, tmp_path: Path) -> None:
    (tmp_path / "orders.sh").write_text("for n in $(seq 300); do echo handled order $n; done", encoding="utf-8")
    async with nacre.Tool("workspace", cwd=str(tmp_path)) as tool:
        reply = await tool.call({"command": "bash orders.sh"})
        artifact = reply.details["minimized"]["artifactId"]
        assert opened(tool.engine.state_dir) == frozenset()
        await nacre.Tool("read").call({"id": int(artifact)})
        assert opened(tool.engine.state_dir) == {artifact}
