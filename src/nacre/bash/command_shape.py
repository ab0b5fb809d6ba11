"""The shape of a command: a leading `cd x &&`, a trailing `| head` or `| tail`, one simple command, a whole script.

Recognition only: each function gives spans and values, or None; the command itself is never changed here. A
command that is not plainly of the shape gives None and runs as written.
"""

import functools
import re
from dataclasses import dataclass
from typing import Final, Literal

from nacre.bash.budget import TimeBudget
from nacre.bash.reader import read
from nacre.bash.tree import Close, Open, Program, SimpleCommand, Text, UnreadableError, Word

_BLANKS: Final = " \t"
_EXPANDS: Final = frozenset("*?[{")
_SIZE: Final = re.compile(
    r"-(?P<short>[nc])(?P<value>\d+)|-(?P<number>\d+)|--(?P<long>lines|bytes)=(?P<long_value>\d+)", re.ASCII
)
_NOTHING_MORE: Final = re.compile(r"[\s;]*(?:#.*\s*)?")


@dataclass(frozen=True, slots=True)
class CdPrefix:
    """A leading `cd path &&`."""

    path: str
    rest: str
    """The command without it."""


@dataclass(frozen=True, slots=True)
class HeadTail:
    """A trailing `| head …` or `| tail …` of the one pipeline that the command is."""

    kind: Literal["head", "tail"]
    unit: Literal["lines", "bytes"]
    count: int
    producer: str
    """The text of everything before the pipe."""
    producer_end: int
    """Where that text ends in the command."""


def lift_cd(command: str) -> CdPrefix | None:
    """Read a leading `cd path &&`; None when the command must stay whole.

    The rest may only be more of the same chain: behind `||`, `;`, a line's end or `&` it would run, or move the shell,
    in another way than written.
    """
    program = _read(command) if command.startswith(("cd ", "cd\t")) else None
    if program is None or not _is_and_chain(program):
        return None
    first = program.steps[0]
    if not isinstance(first, SimpleCommand) or len(first.words) != 2 or first.redirects:
        return None
    word = first.words[1]
    written, path = command[word.start : word.end], _literal(word)
    if not path or path.startswith("-") or any(text in written for text in ("$", "`", "(", "\r", "\\\n")):
        return None
    if path.startswith("~") and (written[0] != "~" or path[1:2] not in ("", "/")):
        # A quoted tilde is a name, and another user's home is the shell's to find.
        return None
    following = command[word.end :].lstrip(_BLANKS)
    rest = following[2:].strip(_BLANKS + "\n")
    if not following.startswith("&&") or not rest or (rest.endswith(";") and not rest.endswith("\\;")):
        return None
    return CdPrefix(path, rest)


def _is_and_chain(program: Program) -> bool:
    """True if the program is one chain of `&&` that nothing follows."""
    if program.background or len(program.steps) < 3:
        return False
    chain, last = program.steps[1], program.steps[-1]
    if not isinstance(chain, Open) or chain.block.kind != "chain":
        return False
    return isinstance(last, Close) and last.block is chain.block


def trailing_window(command: str) -> HeadTail | None:
    """Recognise a last stage that is head or tail with nothing but a literal size."""
    if "head" not in command and "tail" not in command:
        return None
    stages = _single_pipeline(command)
    if stages is None or len(stages) < 2:
        return None
    last = stages[-1]
    if not isinstance(last, SimpleCommand) or last.assignments or last.redirects or not last.words:
        return None
    words = [_literal(word) for word in last.words]
    if words[0] not in ("head", "tail"):
        return None
    kind: Literal["head", "tail"] = "head" if words[0] == "head" else "tail"
    size = _size([word for word in words[1:] if word is not None]) if None not in words else None
    if size is None:
        return None
    unit, count = size
    if _NOTHING_MORE.fullmatch(command, last.end) is None:
        # A here-document's body follows; the producer's text alone would not run.
        return None
    before = command[: last.start].rstrip()
    producer = before.removesuffix("&").removesuffix("|").rstrip()
    return HeadTail(kind, unit, count, producer, len(producer))


def _literal(word: Word) -> str | None:
    """Return what the word stands for, None when the shell expands a part of it."""
    if word.fixed is not None:
        return word.fixed
    if all(isinstance(part, Text) and (part.quoted or _EXPANDS.isdisjoint(part.text)) for part in word.parts):
        return "".join(part.text for part in word.parts if isinstance(part, Text))
    return None


def _size(options: list[str]) -> tuple[Literal["lines", "bytes"], int] | None:
    """Return the unit and count of the options; head and tail without any mean ten lines."""
    unit: Literal["lines", "bytes"] = "lines"
    count = 10
    position = 0
    while position < len(options):
        option = options[position]
        if option in ("-n", "-c", "--lines", "--bytes") and position + 1 < len(options):
            position += 1
            if not re.fullmatch(r"\d+", options[position], re.ASCII):
                return None
            unit = "bytes" if option in ("-c", "--bytes") else "lines"
            count = int(options[position])
        elif match := _SIZE.fullmatch(option):
            unit = "bytes" if match["short"] == "c" or match["long"] == "bytes" else "lines"
            count = int(match["value"] or match["number"] or match["long_value"])
        elif option not in ("-q", "--quiet", "--silent"):
            return None
        position += 1
    return unit, count


def _read(command: str) -> Program | None:
    try:
        program = read(command, TimeBudget())
    except UnreadableError:
        return None
    return None if program.damage else program


def _single_pipeline(command: str) -> list[SimpleCommand | Open] | None:
    """Return the stages of a command that is one pipeline, negation, lists and background excluded."""
    program = _read(command)
    if program is None or program.background or command.lstrip().startswith("!"):
        return None
    stages: list[SimpleCommand | Open] = []
    depth = 0
    for step in program.steps:
        if depth == 0 and isinstance(step, SimpleCommand | Open):
            stages.append(step)
        depth += isinstance(step, Open)
        depth -= isinstance(step, Close)
    for position, stage in enumerate(stages):
        head = stage if isinstance(stage, SimpleCommand) else stage.block
        if isinstance(stage, Open) and stage.block.kind in ("chain", "function"):
            return None
        if head.pipe_in is not (position > 0) or head.pipe_out is not (position < len(stages) - 1):
            return None
    return stages


def is_single_simple_command(command: str) -> bool:
    """True if the command is one simple command: no pipe, list, background, function or compound."""
    program = _read(command)
    if program is None or program.background or len(program.steps) != 1 or command.lstrip().startswith("!"):
        return False
    step = program.steps[0]
    return isinstance(step, SimpleCommand) and not step.pipe_out and bool(step.words)


@functools.lru_cache(maxsize=512)
def is_whole(script: str) -> bool:
    """True if a line that follows the script is a command of its own, and not a part of it."""
    program = _read(script)
    return program is not None and not program.unfinished
