"""Which commands print, and where one part of a chain's output ends."""

from __future__ import annotations

import pytest

from nacre.minimize.calls import printing_calls, segments_of
from nacre.minimize.minimiser import shorten

PASSED = "\n".join(f"tests/test_a.py::test_{number} PASSED [ 50%]" for number in range(40))
CONTENT = "\n".join(f"row {number} of the file" for number in range(40))


@pytest.mark.parametrize(
    ("command", "calls"),
    [
        ("cd x && pytest -q", [("pytest", "-q")]),
        ("pytest > out.txt; cat out.txt", [("cat", "out.txt")]),
        ("make 2> errors.txt", [("make",)]),
        ("pytest | tail -5", [("pytest",)]),
        ("pytest | sort", None),
        ("{ make; } | sort", None),
    ],
)
def test_what_prints_is_known_from_the_script(command: str, calls: list[tuple[str, ...]] | None) -> None:
    assert printing_calls(command) == calls


def test_a_line_of_an_echo_parts_a_chain() -> None:
    found = segments_of("pytest -v; echo '--- notes'; cat notes", f"{PASSED}\n--- notes\n{CONTENT}")
    assert [(one.heading, one.calls, one.text) for one in found] == [
        (None, [("pytest", "-v")], PASSED),
        ("--- notes", [("cat", "notes")], CONTENT),
    ]


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("pytest; cat notes", "a\n---\nb"),
        ("pytest; echo ---; cat notes", "a\n---\nb\n---\nc"),
        ("pytest; echo $X; cat notes", "a\n$X\nb"),
        ("for i in 1; do echo ---; cat notes; done", "---\nb"),
        ("pytest && echo ---; cat notes", "a\n---\nb"),
        ("sleep 9 & echo ---; cat notes", "---\nb"),
    ],
)
def test_without_a_certain_boundary_a_chain_is_one_part(command: str, text: str) -> None:
    assert [one.text for one in segments_of(command, text)] == [text]


def test_each_part_is_shortened_by_its_own_commands() -> None:
    found = shorten("pytest -v; echo --- notes; cat notes", 0, f"{PASSED}\n--- notes\n{CONTENT}")
    assert found is not None
    # How the tests ended is not known, so their last three rows stay.
    assert found.text.split("\n")[3:] == ["--- notes", *CONTENT.split("\n")]
    assert "37 rows of tests that passed" in found.footer


def test_a_machine_format_in_a_chain_is_not_touched() -> None:
    found = shorten("pytest -v; echo ---; git status --porcelain", 0, f"{PASSED}\n---\n{CONTENT}")
    assert found is not None
    assert found.text.endswith(CONTENT)
