"""Which families a command belongs to: from its parsed script, and behind wrappers from what the output is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from nacre.bash.reader import read
from nacre.bash.tree import Open, Program, SimpleCommand, Text, UnreadableError, Word
from nacre.minimize.filters import Family

# Commands that print nothing, or next to nothing.
_SILENT = frozenset("cd pushd popd export set unset source . true : mkdir rm cp mv ln touch chmod chown sleep umask ulimit shopt alias trap wait kill".split())
# Wrappers whose next words are the command.
_WRAPPERS = frozenset("sudo doas env nice ionice nohup time timeout stdbuf command exec builtin xvfb-run setsid chrt taskset".split())
_RUNNERS = (
    ("uv", "run"), ("poetry", "run"), ("pdm", "run"), ("hatch", "run"), ("pipenv", "run"), ("rye", "run"),
    ("bundle", "exec"), ("npm", "exec"), ("pnpm", "exec"), ("pnpm", "dlx"), ("yarn", "dlx"), ("yarn", "exec"),
    ("npx",), ("bunx",), ("pnpx",), ("uvx",), ("pipx", "run"), ("docker", "exec"), ("podman", "exec"), ("kubectl", "exec"),
    ("bun", "x"), ("mise", "exec"), ("direnv", "exec"),
)  # fmt: skip
_MODULES = {"python", "python3", "py", "pypy3"}
_VERSION = re.compile(r"^(.*?)(?:-?\d+(?:\.\d+)*)$")
# Flags that ask for a form that programs read.
_MACHINE = re.compile(
    r"^(?:--json|--porcelain(?:=.*)?|-z|--null|-print0|-0|--print0|--format=?(?:json.*|ndjson)|--output=?(?:json|yaml)|--output-format=?(?:json.*)"
    r"|--reporter=?(?:json|junit|tap)|-ojson|-oyaml|--message-format=?(?:json.*)|--outputjson|--xml|--csv|--junit-xml.*|--sarif|--numstat|-json)$"
)
_MACHINE_PAIRS = {("-o", "json"), ("-o", "yaml"), ("--format", "json"), ("--output", "json"), ("-f", "json"), ("--output-format", "json"), ("--reporter", "json")}
_PAGERS = frozenset({"tail", "head", "tee", "cat", "less", "more"})


@dataclass(frozen=True, slots=True)
class Selection:
    """What may be done to the output of a command."""

    families: tuple[Family, ...]
    scope: Literal["tools", "generic", "lossless", "none"]


def select(command: str, text: str, families: Sequence[Family]) -> Selection:
    """The families of a command and its output."""
    try:
        program = read(command)
    except UnreadableError:
        return Selection((), "lossless")
    calls = _printing(program)
    if calls is None:
        return Selection((), "lossless")
    if any(_is_machine(argv) for argv in calls):
        return Selection((), "none")
    named = [family for argv in calls for family in _named(argv, families)]
    if any(family.kind == "content" for family in named):
        return Selection((), "lossless")
    if not named or _may_wrap(calls):
        named += [family for family in families if family not in named and _is_recognised(family, text)]
    scope: Literal["tools", "generic"] = "tools" if named else "generic"
    return Selection(tuple(dict.fromkeys(named)), scope)


def _printing(program: Program) -> list[tuple[str, ...]] | None:
    """The argument lists whose output is what was captured; None where that is not known."""
    calls: list[tuple[str, ...]] = []
    pipeline: list[tuple[str, ...]] = []
    for step in program.steps:
        if not isinstance(step, SimpleCommand):
            if isinstance(step, Open) and step.block.pipe_out:
                return None
            continue
        argv = tuple(_literal(word) for word in step.words)
        pipeline.append(argv)
        if step.pipe_out:
            continue
        # A pipe's last stage prints what was captured: of a pager that is its producer's output.
        while len(pipeline) > 1 and pipeline[-1] and pipeline[-1][0] in _PAGERS:
            pipeline.pop()
        if len(pipeline) > 1:
            return None
        argv = _unwrapped(pipeline.pop())
        pipeline.clear()
        if argv and argv[0] not in _SILENT:
            calls.append(argv)
    return calls


def _literal(word: Word) -> str:
    return word.fixed if word.fixed is not None else "".join(part.text if isinstance(part, Text) else "?" for part in word.parts)


def _unwrapped(argv: tuple[str, ...]) -> tuple[str, ...]:
    """The command behind wrappers: `sudo -u x`, `timeout 3`, `uv run`, `python -m`."""
    while argv:
        name = argv[0].rpartition("/")[2].removesuffix(".exe")
        base = _VERSION.sub(r"\1", name) or name
        if base in _MODULES and "-m" in argv[1:4]:
            argv = argv[argv.index("-m") + 1 :]
            continue
        if name in _WRAPPERS:
            argv = _after_options(argv[1:], skip_number=True)
            continue
        runner = next((one for one in _RUNNERS if (name, *argv[1 : len(one)]) == one), None)
        if runner is not None and len(argv) > len(runner):
            rest = _after_options(argv[len(runner) :], skip_number=False)
            if rest and runner[-1] == "exec" and runner[0] in ("docker", "podman", "kubectl"):
                rest = rest[1:]
                if rest[:1] == ("--",):
                    rest = rest[1:]
            if rest:
                argv = rest
                continue
        return (name, *argv[1:])
    return ()


def _after_options(words: tuple[str, ...], *, skip_number: bool) -> tuple[str, ...]:
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return words[at + 1 :]
        valued = word in ("-u", "-n", "-s", "-k", "-w", "-e", "-i", "-o", "-p", "--with", "--package", "--python", "--extra", "--group", "-c")
        if word.startswith("-"):
            at += 2 if valued and at + 2 < len(words) else 1
        elif "=" in word and not word.startswith("/") or (skip_number and re.fullmatch(r"[\d.]+[smhd]?", word)):
            at += 1
        else:
            break
    return words[at:]


def _is_machine(argv: tuple[str, ...]) -> bool:
    return any(_MACHINE.match(word) for word in argv[1:]) or any(pair in _MACHINE_PAIRS for pair in zip(argv[1:], argv[2:], strict=False))


def _named(argv: tuple[str, ...], families: Sequence[Family]) -> list[Family]:
    words = tuple(word for word in argv if not word.startswith("-") or word in ("-R", "-r", "-l", "-la", "-al"))
    flat = (argv[0], *[word for word in argv[1:] if not word.startswith("-")])
    best: list[tuple[int, Family]] = []
    for family in families:
        lengths = [len(one) for one in family.commands if flat[: len(one)] == one or _with_options(argv, one)]
        if lengths:
            best.append((max(lengths), family))
    if not best:
        return []
    longest = max(length for length, _ in best)
    return [family for length, family in best if length == longest] if words else []


def _with_options(argv: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    """Whether the words are there in their order, options such as `-R` or clusters with that letter included."""
    if argv[0] != wanted[0]:
        return False
    for word in wanted[1:]:
        if word.startswith("-") and len(word) == 2:
            if not any(one.startswith("-") and not one.startswith("--") and word[1] in one[1:] for one in argv[1:]):
                return False
        elif word not in argv[1:]:
            return False
    return any(word.startswith("-") for word in wanted)


_WRAPPING = frozenset("make gmake just task npm pnpm yarn bun tox nox docker docker-compose podman bash sh zsh ./gradlew gradle mvn rake invoke inv doit scons bazel nx turbo lerna pre-commit ssh kubectl".split())


def _may_wrap(calls: list[tuple[str, ...]]) -> bool:
    return any(argv[0] in _WRAPPING or argv[0].endswith(".sh") or argv[0].startswith("./") for argv in calls) or len(calls) > 1


def _is_recognised(family: Family, text: str) -> bool:
    sample = text if len(text) <= 400_000 else text[:200_000] + "\n" + text[-200_000:]
    return any(pattern.search(sample) for pattern in family.recognised)
