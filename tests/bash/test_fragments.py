"""Flat fragments of a command line."""

import pytest

from nacre.bash.fragments import fragments


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("a; b && c", [("a", False), ("b", False), ("c", False)]),
        ("a | b |& c; d", [("a", False), ("b", True), ("c", True), ("d", False)]),
        ("a |\n\n# x\n b", [("a", False), ("b", True)]),
        ("a 2>&1 >| f &> g", [("a 2>&1 >| f &> g", False)]),
        ("a 'x; y' \"p | q\"", [("a 'x; y' \"p | q\"", False)]),
        ("a # b; c\nd", [("a", False), ("d", False)]),
        ("a $(b)", []),
        ("a `b`", []),
        ("a ${b}", []),
        ("a <<E\nE", []),
        ("(a)", []),
        ("{ a; }", []),
        ("a 'b", []),
        ("a \\", []),
    ],
)
def test_fragments(command: str, expected: list[tuple[str, bool]]) -> None:
    assert [(fragment.text, fragment.reads_pipe) for fragment in fragments(command)] == expected


@pytest.mark.parametrize("command", ["for f in a; do b; done; c", "[[ a ]] && b; c", "if a; then b; fi; c"])
def test_a_command_behind_a_compound_is_a_fragment(command: str) -> None:
    assert fragments(command)[-1].text == "c"


def test_a_fragment_is_also_given_without_its_assignments() -> None:
    assert [fragment.bare for fragment in fragments("A=1 B='x y' C=\"p q\"r cat f; A=1")] == ["cat f", "A=1"]
