"""The shape of a command."""

import pytest

from nacre.bash.command_shape import CdPrefix, HeadTail, is_single_simple_command, is_whole, lift_cd, trailing_window


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cd /tmp && ls", CdPrefix("/tmp", "ls")),
        ("cd 'a b' && y", CdPrefix("a b", "y")),
        ("cd a\\ b&&y", CdPrefix("a b", "y")),
        ('cd "a\\"b"c && cd d && e', CdPrefix('a"bc', "cd d && e")),
        ("cd x && \t a\n", CdPrefix("x", "a")),
        ("cd x && a &&\nb | c", CdPrefix("x", "a &&\nb | c")),
        ("cd x && (a; b) && { c || d; }", CdPrefix("x", "(a; b) && { c || d; }")),
        ("cd x && for f in *; do a; done", CdPrefix("x", "for f in *; do a; done")),
        ("cd x && cat <<E\na; b\nE\n", CdPrefix("x", "cat <<E\na; b\nE")),
        ("cd 'a*' && y", CdPrefix("a*", "y")),
        ("cd x && find . -exec a {} \\;", CdPrefix("x", "find . -exec a {} \\;")),
        ("cd ~ && ls", CdPrefix("~", "ls")),
        ("cd ~/x && ls", CdPrefix("~/x", "ls")),
        *(
            (command, None)
            for command in (
                "cd x; y",
                "cd x || y",
                "cd x & y",
                "cd x | y",
                "cd x 2>/dev/null && y",
                "cd a b && y",
                "cd && y",
                'cd "$D" && y',
                "cd '$D' && y",
                "cd $(pwd) && y",
                "cd `pwd` && y",
                "cd x",
                " cd x && y",
                "cdx && y",
                "cd 'x && y",
                'cd "x && y',
                "cd '' && y",
                "cd a\\\nb && y",
                "cd x\n&& y",
                "cd x &&",
                "cd - && pwd",
                "cd -P && y",
                "cd nope && ls || echo fallback",
                "cd x && a || b && c",
                "cd web && npm run dev &",
                "cd x && a & b",
                "cd x && a; b",
                "cd x && a;",
                "cd x && a\nb",
                "cd x && ! a; b",
                "cd x && cat <<E\na\nE\nb",
                "cd x && 'a",
                "cd * && y",
                "cd {a,b} && y",
                "cd [ab] && y",
                "cd '~' && y",
                'cd "~/x" && y',
                "cd \\~ && y",
                "cd ~root && y",
                "cd ~+ && y",
            )
        ),
    ],
)
def test_lift_cd(command: str, expected: CdPrefix | None) -> None:
    assert lift_cd(command) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ls | head", HeadTail("head", "lines", 10, "ls", 2)),
        ("seq 5 | head -n2", HeadTail("head", "lines", 2, "seq 5", 5)),
        ("a 2>&1 | tail -n 20", HeadTail("tail", "lines", 20, "a 2>&1", 6)),
        ("a |& tail -5", HeadTail("tail", "lines", 5, "a", 1)),
        ("a | head -c 100", HeadTail("head", "bytes", 100, "a", 1)),
        ("a|b|tail --lines=3", HeadTail("tail", "lines", 3, "a|b", 3)),
        ("(a; b) | tail -3", HeadTail("tail", "lines", 3, "(a; b)", 6)),
        ("  a | head -2", HeadTail("head", "lines", 2, "  a", 3)),
        ("a | head -n5 | tail -n1", HeadTail("tail", "lines", 1, "a | head -n5", 12)),
        *(
            (command, None)
            for command in (
                "a | head -n +3",
                "a | tail -n +3",
                "a | head -n -3",
                "a | head -n=3",
                "a; b | head",
                "a && b | head -3",
                "a | head -3 > f",
                "a | X=1 head -3",
                "a | head $x",
                "a | head -3 f",
                "a | tail -f",
                "! a | head",
                "a | head &",
                'echo "x | head -3"',
                "head -3 f",
                "cat <<E | head -2\nx\nE",
                "f() { a; } | head",
                "a | 'head",
            )
        ),
    ],
)
def test_trailing_window(command: str, expected: HeadTail | None) -> None:
    assert trailing_window(command) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ls", True),
        ("A=1 ls -l > x 2>&1", True),
        ("echo $(ls)", True),
        ("ls <<E\nx\nE", True),
        ("ls\n", True),
        ("A=1", False),
        ("ls; ls", False),
        ("ls\nls", False),
        ("ls | x", False),
        ("ls &", False),
        ("ls && x", False),
        ("! ls", False),
        ("(ls)", False),
        ("f() { x; }", False),
        ("[[ x ]]", False),
        ("'ls", False),
        ("", False),
        ("# x", False),
    ],
)
def test_is_single_simple_command(command: str, expected: bool) -> None:
    assert is_single_simple_command(command) is expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("ls", True),
        ("cat <<E\nx\nE", True),
        ("cat <<< x", True),
        ("ls # x \\", True),
        ("cat <<E\nx", False),
        ("cat <<E | wc", False),
        ("ls \\", False),
        ("ls &&", False),
        ("ls |", False),
        ("ls ||\n# x", False),
        ("echo 'x", False),
        ("if ls; then", False),
    ],
)
def test_is_whole(script: str, expected: bool) -> None:
    assert is_whole(script) is expected
