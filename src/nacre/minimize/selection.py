"""Which families a command belongs to: from its parsed script, and behind wrappers from what the output is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from nacre.bash.reader import read
from nacre.bash.tree import Open, SimpleCommand, Text, UnreadableError, Word
from nacre.minimize.families import Family, built_in


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Commands that print nothing, or next to nothing.
_SILENT = _words("""
    cd pushd popd export set unset source . true : mkdir rm cp mv ln touch chmod chown sleep umask ulimit shopt alias
    trap wait kill
""")
# Wrappers whose next words are the command.
_WRAPPERS = _words("""
    sudo doas env nice ionice nohup time timeout stdbuf command exec builtin xvfb-run setsid chrt taskset
""")
_RUNNERS = frozenset(
    tuple(line.split())
    for line in (
        *("uv run", "poetry run", "pdm run", "hatch run", "pipenv run", "rye run", "pipx run", "bundle exec", "npx"),
        *("npm exec", "pnpm exec", "pnpm dlx", "yarn dlx", "yarn exec", "bunx", "pnpx", "uvx", "bun x", "mise exec"),
        *("direnv exec", "docker exec", "podman exec", "kubectl exec"),
    )
)
_CONTAINERS = _words("docker podman kubectl")
# Commands that start others whose output is not named by the script.
_STARTERS = _words("""
    make gmake just task npm pnpm yarn bun tox nox docker docker-compose podman bash sh zsh gradlew gradle mvn rake
    invoke inv doit scons bazel nx turbo lerna pre-commit ssh kubectl
""")
_PYTHONS = _words("python py pypy")
_PAGERS = _words("tail head tee cat less more")
_OPTIONS_WITH_VALUE = _words("-u -n -s -k -w -e -i -o -p -c --with --package --python --extra --group")
_VERSION = re.compile(r"^(.*?)-?\d+(?:\.\d+)*$")
_DURATION = re.compile(r"[\d.]+[smhd]?")
# Flags that ask for a form that programs read.
_MACHINE = re.compile(
    r"^(?:--json|--porcelain(?:=.*)?|-z|--null|-print0|-0|--print0|--format=?(?:json.*|ndjson)|--output=?(?:json|yaml)"
    r"|--output-format=?json.*|--reporter=?(?:json|junit|tap)|-ojson|-oyaml|--message-format=?json.*|--outputjson|--xml"
    r"|--csv|--sarif|--numstat|-json)$"
)
_MACHINE_PAIRS = frozenset(
    {("-o", "yaml"), *((flag, "json") for flag in _words("-o -f --format --output --output-format --reporter"))}
)
# Of a longer text the two ends are looked at.
_SAMPLE = 200_000


@dataclass(frozen=True, slots=True)
class Selection:
    """What may be done to the output of a command."""

    families: tuple[Family, ...]
    scope: Literal["tools", "generic", "lossless", "none"]


def select(command: str, text: str, families: Sequence[Family] | None = None) -> Selection:
    """The families of a command and its output."""
    families = built_in() if families is None else families
    calls = printing_calls(command)
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


def printing_calls(command: str) -> list[tuple[str, ...]] | None:
    """The argument lists whose output is what was captured; None where that is not known."""
    try:
        program = read(command)
    except UnreadableError:
        return None
    calls: list[tuple[str, ...]] = []
    pipeline: list[tuple[str, ...]] = []
    for step in program.steps:
        if not isinstance(step, SimpleCommand):
            if isinstance(step, Open) and step.block.pipe_out:
                return None
            continue
        pipeline.append(tuple(_literal(word) for word in step.words))
        if step.pipe_out:
            continue
        argv = _source(pipeline)
        pipeline = []
        if argv is None:
            return None
        if argv and argv[0] not in _SILENT:
            calls.append(argv)
    return calls


def _source(pipeline: list[tuple[str, ...]]) -> tuple[str, ...] | None:
    """The command whose output a pipeline prints: of a pager that is its producer's. None if a filter changes it."""
    while len(pipeline) > 1 and pipeline[-1] and pipeline[-1][0] in _PAGERS:
        pipeline.pop()
    return _unwrapped(pipeline[0]) if len(pipeline) == 1 else None


def _literal(word: Word) -> str:
    if word.fixed is not None:
        return word.fixed
    return "".join(part.text if isinstance(part, Text) else "?" for part in word.parts)


def _unwrapped(argv: tuple[str, ...]) -> tuple[str, ...]:
    """The command behind wrappers: `sudo -u x`, `timeout 3`, `uv run`, `python -m`."""
    while argv:
        name = argv[0].rpartition("/")[2].removesuffix(".exe")
        inner = _inner(name, argv)
        if not inner:
            return (name, *argv[1:])
        argv = inner
    return ()


def _inner(name: str, argv: tuple[str, ...]) -> tuple[str, ...]:
    """The command that one wrapper runs; empty if this is no wrapper."""
    if _VERSION.sub(r"\1", name) in _PYTHONS:
        return argv[argv.index("-m") + 1 :] if "-m" in argv[1:4] else ()
    if name in _WRAPPERS:
        return _after_options(argv[1:], skip_duration=True)
    runner = next((one for one in _RUNNERS if (name, *argv[1 : len(one)]) == one), None)
    if runner is None:
        return ()
    rest = _after_options(argv[len(runner) :], skip_duration=False)
    if name in _CONTAINERS:
        rest = rest[2:] if rest[1:2] == ("--",) else rest[1:]
    return rest


def _after_options(words: tuple[str, ...], *, skip_duration: bool) -> tuple[str, ...]:
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return words[at + 1 :]
        if word.startswith("-"):
            at += 2 if word in _OPTIONS_WITH_VALUE and at + 2 < len(words) else 1
        elif ("=" in word and not word.startswith("/")) or (skip_duration and _DURATION.fullmatch(word)):
            at += 1
        else:
            break
    return words[at:]


def _is_machine(argv: tuple[str, ...]) -> bool:
    return any(_MACHINE.match(word) for word in argv[1:]) or any(pair in _MACHINE_PAIRS for pair in pairwise(argv))


def _named(argv: tuple[str, ...], families: Sequence[Family]) -> list[Family]:
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


def _with_options(argv: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    """Whether a command has the wanted words, some of them options; `-R` is found in a cluster such as `-lR`."""
    if argv[0] != wanted[0] or not any(word.startswith("-") for word in wanted):
        return False
    return all(_has_word(argv[1:], word) for word in wanted[1:])


def _has_word(words: tuple[str, ...], wanted: str) -> bool:
    if wanted in words:
        return True
    is_letter = wanted.startswith("-") and len(wanted) == 2
    return is_letter and any(one.startswith("-") and not one.startswith("--") and wanted[1] in one for one in words)


def _may_start_others(calls: list[tuple[str, ...]]) -> bool:
    return len(calls) > 1 or any(argv[0] in _STARTERS or argv[0].endswith(".sh") for argv in calls)


def _is_recognised(family: Family, text: str) -> bool:
    sample = text if len(text) <= 2 * _SAMPLE else text[:_SAMPLE] + "\n" + text[-_SAMPLE:]
    return any(pattern.search(sample) for pattern in family.recognised)
