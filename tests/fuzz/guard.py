"""The guard: it always answers in time, never by failing, and nothing written behind a denied command saves it."""

import time

from harness import instrumented, start

with instrumented():
    from nacre.guard.policy import Policy
    from nacre.guard.review import review

# One byte of the input is one of these, or a character; so that mutations change scripts, not only letters.
_WORDS = r"""
rm git add push -rf -A --force / ~ $HOME .git * . .. ; | || && & ( ) (( )) $( ` ' " $' $" \\ <<< <( >( < > >>
>& 2>&1 &> # $ ${ }
x x= x=( $x ${x :- := %% ## // ^^ ,, [@] [0] ! @ [ ] ? {a,b} {1..9} fi done esac ;; ;& f -S -I{} {} \;
+ %s s/a/b/ $1 $@ $* $# IFS=
::: -- cm0gLXJmIC8= é 𝄞 --pathspec-from-file= ${!x} ${x[ -n 1
"""
_PHRASES = """
if|then|elif|else|for x in|do|while|until|case x in|select|function f|f()|time|coproc|eval|exec|trap|alias|source|.
sudo|env|xargs|find|-exec|bash|sh|-c|echo|printf|base64 -d|tr|sed|awk|cd|set --|shift|read|export|declare -A|declare -n
local|unset|parallel|mapfile|-C|-c alias.x=|{|[[| ]]|; }|ls -d|timeout 5|su -c
"""
TOKENS = (
    *(" ", " ", "\n", "\\\n", "\0", "\r", "\t", "\x7f", "<<E\n", "<<'E'\n", "<<-E\n", "\nE\n"),
    *_WORDS.split(),
    *(phrase + " " for line in _PHRASES.strip("\n").split("\n") for phrase in line.split("|")),
)
DEFAULT, STRICT = Policy("default"), Policy("strict")
# The guard's own limit is 0.75 s of its clock; instrumented code on a busy machine is given more.
PATIENCE_SECONDS = 8.0


def spelled(data: bytes) -> str:
    return "".join(TOKENS[byte] if byte < len(TOKENS) else chr(byte - 96 if byte >= 224 else byte) for byte in data)


def one_input(data: bytes) -> None:
    command = spelled(data[:400])
    began = time.monotonic()
    usual, strict = review(command, DEFAULT), review(command, STRICT)
    behind = review("rm -rf /\n" + command, DEFAULT)
    assert time.monotonic() - began < PATIENCE_SECONDS, "the guard took too long"
    for verdict in (usual, strict, behind):
        assert "the checker failed" not in verdict.message, verdict.message
    assert behind.decision == "deny"
    if usual.decision == "deny" and usual.rule != "unchecked":
        assert strict.decision == "deny"


if __name__ == "__main__":
    start(one_input)
