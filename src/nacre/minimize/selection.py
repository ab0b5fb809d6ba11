"""Which families a command belongs to: from its parsed script, and behind wrappers from what the output is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from nacre.minimize.calls import Call, printing_calls, words
from nacre.minimize.families import Family, built_in

# Commands that start others whose output is not named by the script.
_STARTERS = words("""
    make gmake just task npm pnpm yarn bun tox nox docker docker-compose podman bash sh zsh gradlew gradle mvn rake
    invoke inv doit scons bazel nx turbo lerna pre-commit ssh kubectl
""")
# Flags that ask for a form that programs read.
_MACHINE = re.compile(
    r"^(?:--json|--porcelain(?:=.*)?|-z|--null|-print0|-0|--print0|--format=?(?:json.*|ndjson)|--output=?(?:json|yaml)"
    r"|--output-format=?json.*|--reporter=?(?:json|junit|tap)|-ojson|-oyaml|--message-format=?json.*|--outputjson|--xml"
    r"|--csv|--sarif|--numstat|-json)$"
)
_MACHINE_PAIRS = frozenset(
    {("-o", "yaml"), *((flag, "json") for flag in words("-o -f --format --output --output-format --reporter"))}
)
# A longer text is recognised by its two ends.
_SAMPLE = 200_000


@dataclass(frozen=True, slots=True)
class Selection:
    """What may be done to the output of a command."""

    families: tuple[Family, ...]
    scope: Literal["tools", "generic", "lossless", "none"]


def select(command: str, text: str, families: Sequence[Family] | None = None) -> Selection:
    """The families of a command and its output."""
    return select_for(printing_calls(command), text, families)


def select_for(calls: Sequence[Call] | None, text: str, families: Sequence[Family] | None = None) -> Selection:
    """The families of what printed a text; None is a source that is not known."""
    families = built_in() if families is None else families
    if calls is None:
        return Selection((), "lossless")
    if any(_is_machine(argv) for argv in calls):
        return Selection((), "none")
    named = [family for argv in calls for family in _named(argv, families)]
    if any(family.kind == "content" for family in named):
        return Selection((), "lossless")
    by_output = not named or _may_start_others(calls)
    if not any(family.kind == "listing" for family in named):
        named += [
            family
            for family in families
            if family not in named and (by_output or not family.commands) and _is_recognised(family, text)
        ]
    return Selection(tuple(dict.fromkeys(named)), "tools" if named else "generic")


def _is_machine(argv: Call) -> bool:
    return any(_MACHINE.match(word) for word in argv[1:]) or any(pair in _MACHINE_PAIRS for pair in pairwise(argv))


def _named(argv: Call, families: Sequence[Family]) -> list[Family]:
    """The families with the longest words that a command begins with."""
    plain = (argv[0], *[word for word in argv[1:] if not word.startswith("-")])
    found = [
        (len(words), family)
        for family in families
        for words in family.commands
        if plain[: len(words)] == words or _with_options(argv, words)
    ]
    longest = max((length for length, _ in found), default=0)
    return [family for length, family in found if length == longest]


def _with_options(argv: Call, wanted: tuple[str, ...]) -> bool:
    """Whether a command has the wanted words, some of them options; `-R` is found in a cluster such as `-lR`."""
    if argv[0] != wanted[0] or not any(word.startswith("-") for word in wanted):
        return False
    return all(_has_word(argv[1:], word) for word in wanted[1:])


def _has_word(words: tuple[str, ...], wanted: str) -> bool:
    if wanted in words:
        return True
    is_letter = wanted.startswith("-") and len(wanted) == 2
    return is_letter and any(one.startswith("-") and not one.startswith("--") and wanted[1] in one for one in words)


def _may_start_others(calls: Sequence[Call]) -> bool:
    return len(calls) > 1 or any(argv[0] in _STARTERS or argv[0].endswith(".sh") for argv in calls)


def _is_recognised(family: Family, text: str) -> bool:
    sample = text if len(text) <= 2 * _SAMPLE else text[:_SAMPLE] + "\n" + text[-_SAMPLE:]
    return any(pattern.search(sample) for pattern in family.recognised)
