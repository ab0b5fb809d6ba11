"""What a session must know of a script: whether it can change its shell, and whether a line may follow it. Pure.

Most of what an agent runs leaves its shell as it is, which is told at a glance: it is made of programs and harmless
builtins only, spelled out. A name may still mean a function or an alias of the session; whoever asks compares the words
with those.
"""

from __future__ import annotations

import functools
import re

from nacre.environment.secret_names import words

# Builtins that change something, and every word that bash reads as more than a command's name.
_LOUD = words(
    """
    . alias bg bind break builtin cd command compgen complete compopt continue coproc declare dirs disown enable eval
    exec exit export fc fg getopts hash history let local logout mapfile popd pushd read readarray readonly return set
    shift shopt source suspend trap typeset ulimit umask unalias unset wait
    if then elif else fi for while until do done case esac in select function time { } ! [[ ]]
    """
)
# Quoted texts without expansions, and parameters that are only read, are as good as a plain word, except in the place
# of a command's name.
_MARK = "\x01"
_INERT = re.compile(r"""'[^'\0]*'|"[^"`$\\!]*"|\$(?:[A-Za-z_]\w*|[?#]|\{[A-Za-z_]\w*\})""", re.ASCII)
_WORD = r"[\w./:,+@%^~*?=\x01-]+"
_REDIRECTION = re.compile(rf"(?:\d*|&)(?:>>?|<)(?:&[\d-]+|[ \t]*{_WORD})", re.ASCII)
_WORDS = re.compile(rf"{_WORD}(?:[ \t]+{_WORD})*", re.ASCII)
_NAME = re.compile(r"[\w./:+@%-]+", re.ASCII)
_JOINT = re.compile(r"[ \t]*(?:\|\||&&|\||;|\n)[ \t\n]*")
MOST_CHARACTERS = 2000


@functools.lru_cache(maxsize=512)
def command_words(script: str) -> frozenset[str] | None:
    """The names of the commands in a script that leaves its shell as it is; None when it might not."""
    if len(script) > MOST_CHARACTERS:
        return None
    text = _REDIRECTION.sub(" ", _INERT.sub(_MARK, script.strip()))
    found = set()
    for part in _JOINT.split(text):
        words = part.strip()
        if not _WORDS.fullmatch(words):
            return None
        first, *rest = words.split()
        if (
            not _NAME.fullmatch(first)
            or first in _LOUD
            or (first == "printf" and any(w.startswith("-v") for w in rest))
        ):
            return None
        found.add(first)
    return frozenset(found)


def is_whole(script: str) -> bool:
    """Whether a line that follows the script is a command of its own, and not a part of it."""
    if command_words(script) is not None:
        return True
    from nacre.bash import command_shape

    return command_shape.is_whole(script)
