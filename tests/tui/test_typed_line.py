"""What a person types is read as a command, a move or a search, and nothing is guessed."""

from __future__ import annotations

import pytest

from nacre.tui.typed_line import HINT, Bang, Move, Search, read_line


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("!make test", Bang("make test", seen=True)),
        ("  !!  make test ", Bang("make test", seen=False)),
        ("cd web", Move("cd web")),
        ("cd", Move("cd")),
        ("cd 'a b'", Move("cd 'a b'")),
        ("!cd ../x", Move("cd ../x")),
        ("!cd web && ls", Bang("cd web && ls", seen=True)),
        ("cd $(pwd)", HINT),
        ("cd web; rm x", HINT),
        ("/error", Search("error")),
        ("/", None),
        ("!", None),
        ("!!", None),
        ("   ", None),
        ("make test", HINT),
    ],
)
def test_a_line_is_a_command_a_move_a_search_or_a_hint(line: str, asked: object) -> None:
    assert read_line(line) == asked
