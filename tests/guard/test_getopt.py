"""Options and operands as GNU getopt tells them apart."""

import pytest

from nacre.guard.interpret.alphabet import OUTSIDE
from nacre.guard.programs.getopt import getopt

LONG = ("--force", "--recursive", "--repo")


@pytest.mark.parametrize(
    ("words", "options", "operands"),
    [
        ("-rf a -v b", ["-r", "-f", "-v"], ["a", "b"]),
        ("-- -r a", [], ["-r", "a"]),
        ("- a", [], ["-", "a"]),
        ("--rec --fo", ["--recursive", "--force"], []),
        ("--unknown=1", ["--unknown=1"], []),
        ("-o -f x", ["-o=-f"], ["x"]),
        ("-vox -f", ["-v", "-o=x", "-f"], []),
        ("--repo -f x", ["--repo=-f"], ["x"]),
        ("--repo=y -f", ["--repo=y", "-f"], []),
        ("-o", ["-o"], []),
        (f"{OUTSIDE}-r a", ["-r"], ["a"]),
    ],
)
def test_words_are_told_apart(words: str, options: list[str], operands: list[str]) -> None:
    found, rest = getopt(words.split(), letters="o", long=LONG, values=("--repo",))
    assert [f"{name}={value}" if value else name for name, value in found] == options
    assert rest == operands
