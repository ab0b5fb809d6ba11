"""Which commands of a script print what was captured, and where in a chain one ends and the next begins."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nacre.bash.reader import read
from nacre.bash.tree import Close, Open, Program, SimpleCommand, Text, UnreadableError, Word

Call = tuple[str, ...]
"""The words of a command, without its wrappers."""


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Commands that print nothing, or next to nothing.
_SILENT = words("""
    cd pushd popd export set unset source . true : mkdir rm cp mv ln touch chmod chown sleep umask ulimit shopt alias
    trap wait kill
""")
# Wrappers whose next words are the command.
_WRAPPERS = words("""
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
_CONTAINERS = words("docker podman kubectl")
_PYTHONS = words("python py pypy")
_PAGERS = words("tail head tee cat less more")
_OPTIONS_WITH_VALUE = words("-u -n -s -k -w -e -i -o -p -c --with --package --python --extra --group")
_VERSION = re.compile(r"^(.*?)-?\d+(?:\.\d+)*$")
_DURATION = re.compile(r"[\d.]+[smhd]?")


@dataclass(slots=True)
class Segment:
    """What prints one part of an output."""

    heading: str | None
    """The line that the script itself prints before it; None for the first part."""
    calls: list[Call] | None
    """None where it is not known what prints it."""
    text: str = ""


def printing_calls(command: str) -> list[Call] | None:
    """The argument lists whose output is what was captured; None where that is not known."""
    try:
        program = read(command)
    except UnreadableError:
        return None
    calls: list[Call] = []
    for argv, _ in _sources(program):
        if argv is None:
            return None
        calls.append(argv)
    return calls


def segments_of(command: str, text: str) -> list[Segment]:
    """The parts of an output, each with the calls that printed it; one part where no boundary is known.

    A command has ended before the next one of a chain prints, so a line that occurs once and that an `echo` of the
    script prints is a boundary. In a loop or a function an `echo` may run more often, or never. Behind `&&` it may not
    have run either, and the line may be of what follows the chain; so nothing may follow it.
    """
    whole = [Segment(None, printing_calls(command), text)]
    if "echo" not in command:
        return whole
    try:
        program = read(command)
    except UnreadableError:
        return whole
    if program.background or not all(
        isinstance(step, SimpleCommand) or step.block.kind == "chain" for step in program.steps
    ):
        return whole
    lines = text.split("\n")
    segments, begin = [Segment(None, [])], 0
    for argv, said in _sources(program):
        at = _only_line(lines, said, begin)
        if at is not None:
            segments[-1].text = "\n".join(lines[begin:at])
            segments.append(Segment(said, []))
            begin = at + 1
        elif argv is None or segments[-1].calls is None:
            segments[-1].calls = None
        else:
            segments[-1].calls.append(argv)
    segments[-1].text = "\n".join(lines[begin:])
    return segments if len(segments) > 1 else whole


def _only_line(lines: list[str], said: str | None, begin: int) -> int | None:
    """Where the only line like this is; None if there is none, or if it is before the last boundary."""
    if not said or lines.count(said) != 1:
        return None
    at = lines.index(said)
    return at if at >= begin else None


def _sources(program: Program) -> list[tuple[Call | None, str | None]]:
    """The calls that print, in their order, None where that is not known; and of an `echo` the line that it prints."""
    found: list[tuple[Call | None, str | None]] = []
    pipeline: list[SimpleCommand] = []
    last = program.steps[-1] if program.steps else None
    is_certain = True
    for step in program.steps:
        if not isinstance(step, SimpleCommand):
            if isinstance(step, Open) and step.block.pipe_out:
                found.append((None, None))
            is_certain = not isinstance(step, Open) or (isinstance(last, Close) and last.block is step.block)
            continue
        pipeline.append(step)
        if step.pipe_out:
            continue
        argv = _source([tuple(_literal(word) for word in one.words) for one in pipeline])
        if argv is None or (argv and argv[0] not in _SILENT and not _is_redirected(step)):
            found.append((argv, _said(pipeline) if is_certain else None))
        pipeline = []
    return found


def _is_redirected(command: SimpleCommand) -> bool:
    """Whether nothing but error messages of a command is captured."""
    return any(
        one.operator in (">", ">>", "&>", "&>>", ">|") and one.descriptor in ("", "1") for one in command.redirects
    )


def _said(pipeline: list[SimpleCommand]) -> str | None:
    """The line that an `echo` prints, where the script spells it out."""
    echo, *others = pipeline
    if others or echo.redirects or len(echo.words) < 2 or echo.words[0].fixed != "echo":
        return None
    texts = [_spelled(word) for word in echo.words[1:]]
    said = " ".join(text for text in texts if text is not None)
    if None in texts or said.startswith(("-n", "-e", "-E")) or "\\" in said or "\n" in said:
        return None
    return said


def _spelled(word: Word) -> str | None:
    if word.fixed is not None:
        return word.fixed
    if all(isinstance(part, Text) and part.quoted for part in word.parts):
        return "".join(part.text for part in word.parts if isinstance(part, Text))
    return None


def _source(pipeline: list[tuple[str, ...]]) -> tuple[str, ...] | None:
    """The command whose output a pipeline prints: the producer's before a pager. None if a filter changes it."""
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
