"""The `changes` tool lists, commits and discards a try for the model."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import nacre
from nacre.tries.overlay_changes import changes_on
from nacre.tries.try_store import TryEntry, TryStore


@pytest.fixture
def entry(tmp_path: Path, home: Path) -> TryEntry:
    """A try as an overlay leaves it, without one being mounted."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "a").write_text("a\n", encoding="utf-8")
    entry = TryStore(str(home)).new(root=str(work), command="c", cwd=str(work))
    for name in ("a", "new"):
        Path(entry.upper, name).write_text(f"{name} tried\n", encoding="utf-8")
    entry.write_changes(changes_on(entry.upper, entry.root, started_at=entry.facts["startedAt"]))
    entry.write(state="open")
    return entry


async def changes(entry: TryEntry, **fields: object) -> nacre.Reply:
    async with nacre.Tool("changes", cwd=entry.root) as tool:
        return await tool.call({"id": "try_1", **fields})


async def test_the_id_alone_lists_what_waits(entry: TryEntry) -> None:
    reply = await changes(entry)
    assert reply.text.splitlines()[1:] == ["modified  a", "added     new"]
    assert reply.details == {"id": "try_1", "state": "open", "added": 1, "modified": 1, "deleted": 0}


@pytest.mark.parametrize("chosen", [["new"], "new"])
async def test_paths_are_committed_alone(entry: TryEntry, chosen: object) -> None:
    reply = await changes(entry, commit=chosen)
    assert (reply.text, reply.is_error) == ("try_1: 1 path committed, 1 left", False)
    assert sorted(os.listdir(entry.root)) == ["a", "new"]
    assert Path(entry.root, "a").read_text(encoding="utf-8") == "a\n"


async def test_a_conflict_is_named_and_an_error(entry: TryEntry) -> None:
    Path(entry.root, "a").write_text("mine, longer\n", encoding="utf-8")
    reply = await changes(entry, commit=True)
    assert reply.is_error
    assert reply.text.splitlines()[1] == (
        "conflict: a: the workspace's own file was changed since; it is not committed"
    )
    assert Path(entry.root, "a").read_text(encoding="utf-8") == "mine, longer\n"


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"commit": True, "discard": True}, "give one of 'commit' and 'discard', not both"),
        ({"commit": 3}, "field 'commit' must be true or a list of paths, got 3"),
        ({"discard": []}, "field 'discard' must be true or a list of paths, got []"),
        ({"commit": ["b"]}, "try_1 changes no path 'b'"),
        ({"commit": ["../outside"]}, "try_1 changes no path '../outside'"),
        ({"id": "try_9"}, "there is no try 'try_9'; the newest are: try_1"),
        ({"id": "../../etc"}, "there is no try '../../etc'; the newest are: try_1"),
    ],
)
async def test_a_wrong_field_is_named(entry: TryEntry, fields: dict[str, object], problem: str) -> None:
    reply = await changes(entry, **fields)
    assert (reply.text, reply.is_error) == (problem, True)
