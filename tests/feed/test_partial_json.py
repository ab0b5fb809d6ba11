"""Every beginning of a call's arguments can be read, and shows no less than the one before."""

from __future__ import annotations

import json

import pytest

from nacre.feed.partial_json import read_partial

ARGUMENTS = {"command": 'echo "a\\b" é \U0001f600\n', "env": {"A": "1", "B": "x\ty"}, "timeout": 30, "head": None}


@pytest.mark.parametrize("ascii_only", [True, False])
def test_every_beginning_is_read_as_far_as_it_goes(ascii_only: bool) -> None:
    whole = json.dumps(ARGUMENTS, ensure_ascii=ascii_only)
    before = ""
    for end in range(len(whole) + 1):
        found = read_partial(whole[:end])
        command = found.get("command", "")
        assert ARGUMENTS["command"].startswith(command.rstrip("\ud83d")), whole[:end]
        assert len(command) >= len(before.rstrip("\ud83d"))
        assert set(found.get("env", {})) <= {"A", "B"}
        before = command
    assert read_partial(whole) == ARGUMENTS


@pytest.mark.parametrize("text", ["", "nonsense", "[1, 2", '"text', "{", '{"a"', '{"a":', '{"a": tru', '{"a": 1', "{]"])
def test_what_shows_no_field_gives_none(text: str) -> None:
    assert read_partial(text) == {}


def test_a_deep_nest_is_left_out_without_a_crash() -> None:
    assert read_partial('{"a": ' + "[" * 100_000).keys() <= {"a"}
    assert read_partial('{"command": "ls", "x": ' + '{"y":' * 1000)["command"] == "ls"
