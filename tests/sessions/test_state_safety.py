"""Which scripts leave their shell as it is; when in doubt, they do not."""

from __future__ import annotations

import pytest

from nacre.sessions.state_safety import command_words, is_whole


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("true", {"true"}),
        ("echo hi; ls -la /tmp", {"echo", "ls"}),
        ("git status | head -n 3 && pwd || false", {"git", "head", "pwd", "false"}),
        ("make -j4 >out.txt 2>&1", {"make"}),
        ("grep -r 'a b; cd x' \"q r\" $HOME ${dir} < in", {"grep"}),
        ("echo one\n\necho two\n", {"echo"}),
        ("./run.sh --opt=value *.py ~/x", {"./run.sh"}),
    ],
)
def test_plain_scripts_are_quiet(script: str, words: set[str]) -> None:
    assert command_words(script) == frozenset(words)


@pytest.mark.parametrize(
    "script",
    [
        "cd x", "x=1", "x=1 ls", "export A", "a() { :; }", "echo ${x:=1}", "echo $((x++))", "echo $(ls)", "echo `ls`",
        "ls &", "set -e", "exec ls", ". ./x", "source x", "eval ls", "'cd' x", "c\\d x", "c'd' x", '"cd" x', "$x y",
        ">out cd x", "2>&1 cd x", "<in cd x", "{ cd x; }", "(cd x)", "if true; then cd x; fi",
        "printf -v x y", "printf -vx y", "read x", "! cd x", "time cd x", "[[ a ]]", "true; cd x", "true | cd x",
        "true && cd x", "true\ncd x", "trap x EXIT", "echo 'unterminated", "cat <<E\nE", "echo \\", "echo a; # cd",
        "command cd x", "builtin cd x", "alias a=b", "unset x", "umask 0", "shopt -s x", "ls *; c?",
        "echo {a,b}", "let x=1", "mapfile x", "wait", "hash -r", "pushd x", "enable -n ls", "x+=1", "coproc ls",
    ],
)  # fmt: skip
def test_everything_else_is_not(script: str) -> None:
    assert command_words(script) is None


@pytest.mark.parametrize(
    ("script", "whole"),
    [
        ("a | b", True),
        ("a | b # comment", True),
        ("for i in 1; do a | b; done", True),
        ("cat <<E | b\nx\nE", True),
        ("cat <<E | b\nx", False),
        ("a |", False),
        ("a | b &&", False),
        ("a | b ||", False),
        ("a | b \\", False),
        ("echo 'a | b", False),
        ("if a | b; then", False),
        ("(a | b", False),
    ],
)
def test_a_line_may_follow_a_whole_script_only(script: str, whole: bool) -> None:
    assert is_whole(script) is whole
