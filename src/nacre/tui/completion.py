"""Completes the last word of a typed command: a program's name where a command begins, else a path."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

# A directory with more entries is not listed to its end.
MOST_ENTRIES = 5000
_BEGINS_COMMAND = ("&&", "||", "|", ";", "(", "!", "!!", "sudo", "exec", "time", "then", "do", "else")
_ESCAPED = " \t'\"\\$`&|;<>()*?[]#!{}"


def completions(line: str, cwd: str, path: str = "") -> list[str]:
    """Return the whole lines that a line may be completed to, sorted.

    Args:
        path: the search path for programs.
    """
    start = _last_word(line)
    word = line[start:]
    before = line[:start].rstrip()
    bangs = len(word) - len(word.lstrip("!")) if not before else 0
    prefix, word = line[: start + bangs], word[bangs:]
    begins = not before or before.endswith(_BEGINS_COMMAND)
    found = _programs(word, path) if begins and "/" not in word and word else _paths(word, cwd)
    return sorted({prefix + one for one in found})


def common(lines: Sequence[str]) -> str:
    """Return what all of the lines begin with."""
    first, last = min(lines), max(lines)
    return first[: next((at for at, one in enumerate(first) if last[at : at + 1] != one), len(first))]


def _last_word(line: str) -> int:
    """Return where the last word begins; a backslash keeps a blank inside a word."""
    start = at = 0
    while at < len(line):
        if line[at] == "\\":
            at += 1
        elif line[at] in " \t":
            start = at + 1
        at += 1
    return min(start, len(line))


def _programs(word: str, path: str) -> Iterable[str]:
    for directory in path.split(os.pathsep):
        for entry in _entries(directory):
            if entry.name.startswith(word) and os.access(entry.path, os.X_OK):
                yield f"{entry.name} "


def _paths(word: str, cwd: str) -> Iterable[str]:
    typed = word.replace("\\", "")
    _, _, name = typed.rpartition("/")
    shown = typed[: len(typed) - len(name)]
    directory = os.path.join(cwd, os.path.expanduser(shown)) if shown else cwd
    for entry in _entries(directory):
        if entry.name.startswith(name) and (name.startswith(".") or not entry.name.startswith(".")):
            yield _escaped(shown + entry.name) + ("/" if entry.is_dir() else " ")


def _escaped(text: str) -> str:
    return "".join(f"\\{one}" if one in _ESCAPED else one for one in text)


def _entries(directory: str) -> Iterable[os.DirEntry[str]]:
    try:
        with os.scandir(directory or ".") as found:
            for number, entry in enumerate(found):
                if number >= MOST_ENTRIES:
                    return
                yield entry
    except OSError:
        # A directory that cannot be read completes to nothing.
        return
