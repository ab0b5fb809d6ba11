"""From a word as written to what a program would receive."""

import pytest

from nacre.guard.interpret.alphabet import show
from nacre.guard.interpret.walk import read_script


def argv(script: str) -> list[str]:
    """The words of the last command of a script, marks spelled out."""
    return [show(word) for word in read_script(script).invocations[-1].argv]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("c 'a b' \"c d\" e\\ f", ["a b", "c d", "e f"]),
        ("c a''b\"\"c", ["abc"]),
        (r"c $'\x41\102\u0043\t'", ["ABC\t"]),
        ("c ''", [""]),
        ("c a{b,c{d,e}}f", ["abf", "acdf", "acef"]),
        ("c {1..3} {a..c} {x}", ["1", "2", "3", "a", "b", "c", "{x}"]),
        ("c '{a,b}'", ["{a,b}"]),
        ("c ~ ~/x ~me '~'", ["$HOME", "$HOME/x", "/home/me", "~"]),
        ("x='a b'; c $x \"$x\"", ["a", "b", "a b"]),
        ("x=; c $x y \"$x\"", ["y", ""]),
        ("IFS=,; x=a,b; c $x", ["a", "b"]),
        ("c a${IFS}b", ["a", "b"]),
        ("c $HOME \"$PWD/x\" $nope", ["$HOME", "$PWD/x", "<unset?>"]),
        ("c \"$(echo a  b)\" $(echo 'a  b')", ["a b", "a", "b"]),
        ("c `printf '%s-%d' a 7`", ["a-7"]),
        ("c $(date)", ["<unknown>"]),
        ("a=(x 'y z'); c \"${a[@]}\" ${a[1]} ${#a[@]}", ["x", "y z", "y", "z", "2"]),
        ("set -- x y z; c $2 \"$@\" $#", ["y", "x", "y", "z", "3"]),
        ("x=abcabc; c ${x#a} ${x##*b} ${x%c} ${x%%b*} ${x/b/X} ${x//b/} ${x:1:2} ${x^^}",
         ["bcabc", "c", "abcab", "a", "aXcabc", "acac", "bc", "ABCABC"]),
        # The last of the two readings: y may be set outside, or not.
        ("x=1; c ${x:-no} ${y:-yes} ${x:+set}", ["1", "yes", "set"]),
        ("x=y; y=z; c ${!x}", ["z"]),
        ("read -r a b <<< 'x y z'; c \"$b\" $a", ["y z", "x"]),
        ("printf -v x '%s' q; c $x", ["q"]),
        ("f() { c \"$2\" \"$1\"; }; f a b", ["b", "a"]),
        ("x=a; x+=b; c $x", ["ab"]),
        ("declare -A m=([k]=v); c ${m[k]}", ["v"]),
        ("for i in a b; do c $i; done", ["b"]),
        ("x=1; (x=2); c $x", ["1"]),
        ("c <(ls)", ["/dev/fd/63"]),
    ],
)  # fmt: skip
def test_expansion(script: str, expected: list[str]) -> None:
    assert argv(script) == ["c", *expected]


def test_a_condition_leaves_both_values_possible() -> None:
    found = [str(i) for i in read_script("x=a; if t; then x=b; fi; c $x").invocations]
    assert found == ["t", "c a", "c b"]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("sudo -u me env A=1 nice -n 5 timeout 9 c", "c"),
        ("bash -euo pipefail -c 'c \"$1\"' _ x", "c x"),
        ("echo c x | sh", "c x"),
        ("cat <<E | bash\nc x\nE", "c x"),
        ("echo Yw== | base64 -d | sh", "c"),
        ("printf 'x\\ny' | xargs -I{} c {}", "c y"),
        ("find . -exec c {} +", "c <unknown>"),
        ("eval 'c x'", "c x"),
        ("trap 'c x' EXIT", "c x"),
        ("echo 'c x' > f; . ./f", "c x"),
        ("watch -n 1 'c x'", "c x"),
        ("parallel c ::: x y", "c y"),
        ("git -c alias.z='!c x' z", "c x"),
        ("env -S 'c \"a b\"' y", "c a b y"),
    ],
)
def test_wrappers_are_looked_through(script: str, expected: str) -> None:
    assert str(read_script(script).invocations[-1]) == expected
