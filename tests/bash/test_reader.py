"""Reading statements: the shape of a script, also where tree-sitter-bash misreads it."""

import pytest

from nacre.bash.reader import read
from nacre.bash.tree import Branch, Close, Open, SimpleCommand


def shape(source: str) -> list[str]:
    """The steps of a script, one text each: `<` reads a pipe, `>` writes one."""
    found: list[str] = []
    for step in read(source).steps:
        match step:
            case SimpleCommand():
                words = [source[word.start : word.end] for word in step.words]
                text = " ".join([*(item.name + "=" for item in step.assignments), *words])
                found.append("<" * step.pipe_in + text + ">" * step.pipe_out)
            case Open(block):
                found.append(f"({block.kind}" + (f" {block.name}" if block.kind in ("for", "function") else ""))
            case Close(block):
                found.append(f"{block.kind})")
            case Branch():
                found.append("or")
    return found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a b; c &\nd", ["a b", "c", "d"]),
        ("a | b |& c", ["a>", "<b>", "<c"]),
        ("a && b && c; d", ["a", "(chain", "b", "c", "chain)", "d"]),
        # Either b or c may be what ran last.
        ("a && b || c; d", ["a", "(chain", "b", "chain)", "(chain", "c", "chain)", "d"]),
        ("! a | b", ["a>", "<b"]),
        ("time -p a", ["a"]),
        ("time -o f a", ["time -o f a"]),
        ("coproc N { a; }", ["(group", "a", "group)"]),
        ("(a; (b))", ["(subshell", "a", "(subshell", "b", "subshell)", "subshell)"]),
        ("if a; then b; elif c; then d; else e; fi", ["(if", "a", "or", "b", "or", "c", "or", "d", "or", "e", "if)"]),
        ("if (a) then b; fi", ["(if", "(subshell", "a", "subshell)", "or", "b", "if)"]),
        ("for x in a b; do c; done | d", ["(for x", "c", "for)", "<d"]),
        ("for ((i=0;i<3;i++)); do a; done", ["(loop", "a", "loop)"]),
        ("for x; { a; }", ["(for x", "a", "for)"]),
        ("case x in a|b) c ;; (d) e ;& *) f;; esac; g", ["(case", "or", "c", "or", "e", "or", "f", "case)", "g"]),
        ("f() { a; } 2>x; f", ["(function f", "(group", "a", "group)", "function)", "f"]),
        ("function f { a; }\nb", ["(function f", "(group", "a", "group)", "function)", "b"]),
        ("f() (a)\nb", ["(function f", "(subshell", "a", "subshell)", "function)", "b"]),
        ("[[ a < b && c ]] && d", ["(test", "test)", "(chain", "d", "chain)"]),
        ("((1)) && d", ["(arithmetic", "arithmetic)", "(chain", "d", "chain)"]),
        ("x=1 y=(a b) c[1]=2 d e", ["x= y= c= d e"]),
        ("a # b\nc", ["a", "c"]),
        ("a#b", ["a#b"]),
        ("a |\n# x\n b", ["a>", "<b"]),
        ("a \\\n b", ["a b"]),
        # The next four are read wrongly by tree-sitter-bash 0.25, without an error node.
        ("a >out b", ["a b"]),
        ("cat <<E | sh && x\nbody\nE\ny", ["cat>", "<sh", "(chain", "x", "chain)", "y"]),
        ("cat <<A <<B; x\na\nA\nb\nB\ny", ["cat", "x", "y"]),
        ('a $"b"', ['a $"b"']),
        ("a \"$(cat <<'E'\nit's (\nE\n)\"; b", ["a \"$(cat <<'E'\nit's (\nE\n)\"", "b"]),
        ("x=$(case a in a) b;; esac); c", ["x=", "c"]),
    ],
)
def test_shape(source: str, expected: list[str]) -> None:
    assert shape(source) == expected
    assert read(source).damage == []


@pytest.mark.parametrize(
    "source", ["a )", "(a", "fi", "if a", "echo 'x", 'echo "x', "a `b", "case x in", "a $(b", "a |", ";; a"]
)
def test_invalid_text_is_noted_as_damage(source: str) -> None:
    assert read(source).damage != []
