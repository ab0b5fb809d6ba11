"""What a wrapper would run, and how its own words are told from those of the command inside.

Shared by the modules that know single programs; no program is named here.
"""

import re
import shlex
from dataclasses import dataclass
from typing import Final

from nacre.guard.interpret.alphabet import plain
from nacre.guard.programs.wrapper_table import Options

ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")


@dataclass(frozen=True, slots=True)
class Inner:
    """What a wrapper would run."""

    commands: tuple[tuple[str, ...], ...] = ()
    scripts: tuple[str, ...] = ()
    assignments: tuple[str, ...] = ()
    reads_arguments: bool = False
    """Arguments are added from standard input (xargs, parallel)."""
    placeholder: str = ""
    """The word that is replaced by each line of input."""
    separator: str | None = None
    """What stands between the arguments in the input; None for blanks."""
    source: str = ""
    """The file the arguments are read from, instead of standard input."""
    directory: str = ""
    """Where it runs them, if not here."""


def split_words(text: str) -> list[str]:
    """Split as a shell would, without expanding; unbalanced quotes split at blanks."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def basename(word: str) -> str:
    """Return the name of a program without its folders."""
    name = plain(word)
    name = name.rsplit("/", 1)[-1] if "/" in name else name
    return name.removesuffix(".exe")


def option_end(argv: tuple[str, ...], options: Options, start: int = 1) -> tuple[int, dict[str, str]]:
    """Return where the operands begin, and the values of the options that take one."""
    values: dict[str, str] = {}
    index = start
    while index < len(argv):
        word = plain(argv[index])
        if word == "--":
            return index + 1, values
        if not word.startswith("-") or word == "-":
            break
        index += 1
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            if not equals and name in options.long and index < len(argv):
                value = argv[index]
                index += 1
            values["--" + name] = value
            continue
        for at, char in enumerate(word[1:], 1):
            if char in options.short:
                value = word[at + 1 :]
                if not value and index < len(argv):
                    value = argv[index]
                    index += 1
                values["-" + char] = value
                break
            values["-" + char] = ""
    return index, values


def peeled(argv: tuple[str, ...], options: Options) -> Inner:
    """Return what stands behind the words that are the wrapper's own."""
    index, values = option_end(argv, options)
    scripts = tuple(plain(values[name]) for name in options.script if name in values)
    assignments: list[str] = []
    while options.assignments and index < len(argv) and ASSIGNMENT.match(plain(argv[index])):
        assignments.append(argv[index])
        index += 1
    index += options.operands
    if index < len(argv) and argv[index] == "--":
        index += 1
    rest = argv[index:]
    if options.joined and rest:
        scripts += (" ".join(plain(word) for word in rest),)
    directory = next((values[name] for name in options.directory if name in values), "")
    return Inner((rest,) if rest else (), scripts, tuple(assignments), directory=directory)
