"""Whether a script can change its shell, and whether a line may follow it. Pure.

Most scripts of an agent consist of programs and harmless builtins, spelled out, and leave their shell as it is. A
pattern recognises these. A command word may still name a function or an alias of the session: the caller checks that.

Every call of a session asks, so this is a pattern and not a reading by `nacre.bash`: 1 to 18 µs instead of 25 to 96 µs
for four ordinary commands, and the reader need not be loaded.
"""

from __future__ import annotations

import functools
import re

from nacre.environment.secret_names import words

# Builtins that change the shell, and every word that bash reads as more than a command's name.
_CHANGING = words(
    """
    . alias bg bind break builtin cd command compgen complete compopt continue coproc declare dirs disown enable eval
    exec exit export fc fg getopts hash history let local logout mapfile popd pushd read readarray readonly return set
    shift shopt source suspend trap typeset ulimit umask unalias unset wait
    if then elif else fi for while until do done case esac in select function time { } ! [[ ]]
    """
)
# Stands for a quoted text without expansions, or a parameter that is only read: an argument, but no command's name.
_MARK = "\x01"
_INERT = re.compile(r"""'[^'\0]*'|"[^"`$\\!]*"|\$(?:[A-Za-z_]\w*|[?#]|\{[A-Za-z_]\w*\})""", re.ASCII)
_WORD = r"[\w./:,+@%^~*?=\x01-]+"
_REDIRECTION = re.compile(rf"(?:\d*|&)(?:>>?|<)(?:&[\d-]+|[ \t]*{_WORD})", re.ASCII)
_WORDS = re.compile(rf"{_WORD}(?:[ \t]+{_WORD})*", re.ASCII)
_NAME = re.compile(r"[\w./:+@%-]+", re.ASCII)
_JOINT = re.compile(r"[ \t]*(?:\|\||&&|\||;|\n)[ \t\n]*")
MOST_CHARACTERS = 2000
# Words that have bash parse more than the script itself.
_PARSES_MORE = re.compile(r"(?:^|[\s;&|({])(?:eval|source|\.)\s", re.ASCII)
SYNTAX_ERROR = 2


@functools.lru_cache(maxsize=512)
def command_words(script: str) -> frozenset[str] | None:
    """The names of the commands in a script that leaves its shell as it is; None if it may change it."""
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
            or first in _CHANGING
            or (first == "printf" and any(w.startswith("-v") for w in rest))
        ):
            return None
        found.add(first)
    return frozenset(found)


def is_whole(script: str) -> bool:
    """True if a line after the script is a command of its own, and not a part of it."""
    if command_words(script) is not None:
        return True
    from nacre.bash import command_shape

    return command_shape.is_whole(script)


def may_damage_parser(script: str, code: int) -> bool:
    """True if bash may have read the end of a text inside `$(` or `<(` when it ran this script, which gave this code.

    Bash 5.2 reads and writes beyond its parser's buffers afterwards, and can abort in a later command.
    """
    return code == SYNTAX_ERROR and (_PARSES_MORE.search(script) is not None or not is_whole(script))
