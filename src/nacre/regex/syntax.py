"""From the text of an expression to a small program for the automaton.

Python's own `re` judges the spelling and answers whether a character belongs to a class; only the structure
(alternatives, repeats, groups, anchors) is read here. Counted repeats are written out, so the size of the program is
capped.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import Literal

# One step of the automaton may look at all of the program.
MOST_INSTRUCTIONS = 1000
MOST_CHARACTERS = 1000
# `re` looks at each character of each range when it compiles one, up to the end of the basic plane: 50 ms for eight
# ranges of all of them, and some 350 ms where the case is ignored.
MOST_IN_RANGES = 8 * 0x10000

Anchor = Literal["^", "$", "b", "B"]


class RegexSyntaxError(ValueError):
    """The expression is not one, or not one that can be matched in linear time."""


@dataclass(frozen=True, slots=True)
class Take:
    """Go on if the next character is one of these."""

    source: str
    """The class, as `re` spells it."""
    ignore_case: bool


@dataclass(frozen=True, slots=True)
class Assert:
    """Go on if the place between two characters is such."""

    anchor: Anchor


@dataclass(frozen=True, slots=True)
class Split:
    """Go on here and there."""

    targets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Accept:
    """The expression is matched."""


Instruction = Take | Assert | Split | Accept


@dataclass(frozen=True, slots=True)
class Repeat:
    body: Node
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Sequence:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    branches: tuple[Node, ...]


Node = Take | Assert | Repeat | Sequence | Choice


def flags_of(source: str, given: str) -> str:
    """Return the flags of an expression for a whole text: those given, and those that it begins with."""
    own = _GLOBAL_FLAGS.match(source)
    return given + (own[1] if own else "")


def parse(source: str, flags: str | None = None) -> Node:
    """Read an expression: one for lines, or, with flags, one for a whole text.

    In a whole text a class may take a newline, with the flag s a dot too; the flag m gives `^` and `$` each line.

    Raises:
        RegexSyntaxError: with the reason as a sentence's end.
    """
    if len(source) > MOST_CHARACTERS:
        raise RegexSyntaxError(f"is longer than {MOST_CHARACTERS} characters")
    if _characters_in_ranges(source) > MOST_IN_RANGES:
        raise RegexSyntaxError("has too many wide ranges of characters; name fewer, or use a class such as \\w or \\S")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(source)
            return _Parser(source, flags).read()
    except re.error as error:
        raise RegexSyntaxError(f"is not a regular expression: {error}") from error
    except (OverflowError, RecursionError) as error:
        raise RegexSyntaxError("is too large or nested too deeply") from error


def assemble(node: Node) -> tuple[Instruction, ...]:
    """Return the program of a tree; execution begins at its first instruction."""
    program: list[Instruction] = []
    _emit(node, program)
    program.append(Accept())
    return tuple(program)


def _emit(node: Node, program: list[Instruction]) -> None:
    if len(program) > MOST_INSTRUCTIONS:
        raise RegexSyntaxError("is too large once its counts are written out; use smaller ones")
    match node:
        case Take() | Assert():
            program.append(node)
        case Sequence(parts):
            for part in parts:
                _emit(part, program)
        case Choice(branches):
            fork = len(program)
            program.append(Split(()))
            starts, ends = [], []
            for branch in branches:
                starts.append(len(program))
                _emit(branch, program)
                ends.append(len(program))
                program.append(Split(()))
            program[fork] = Split(tuple(starts))
            for end in ends:
                program[end] = Split((len(program),))
        case Repeat(body, least, most):
            for _ in range(least):
                size = len(program)
                _emit(body, program)
                if len(program) == size:
                    return
            if most is None:
                loop = len(program)
                program.append(Split(()))
                _emit(body, program)
                program.append(Split((loop,)))
                program[loop] = Split((loop + 1, len(program)))
                return
            exits: list[int] = []
            for _ in range(most - least):
                exits.append(len(program))
                program.append(Split(()))
                _emit(body, program)
            for place in exits:
                program[place] = Split((place + 1, len(program)))


_CODE = r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|[0-7]{1,3}|.)|[^\\]"
_RANGE = re.compile(f"({_CODE})-(?=({_CODE}))", re.DOTALL)


def _characters_in_ranges(source: str) -> int:
    """Return how many characters of the basic plane the ranges of an expression name at most."""
    last = 0xFFFF
    found = _RANGE.findall(source)
    return sum(max(0, min(_code(high, named=last), last) - _code(low, named=0) + 1) for low, high in found)


def _code(spelled: str, *, named: int) -> int:
    """Return the character that a range begins or ends with; one that is spelled by its name is not looked up."""
    if len(spelled) == 1:
        return ord(spelled)
    kind, digits = spelled[1], spelled[2:]
    if kind == "N":
        return named
    if kind in "xuU":
        return int(digits, 16) if digits else ord(kind)
    return int(spelled[1:], 8) if kind in "01234567" else ord(kind)


_COUNTS = re.compile(r"\{(?:(\d+)(,(\d*))?|,(\d+))\}")
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|[0-7]{3}|0[0-7]?|.)", re.DOTALL)
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_GLOBAL_FLAGS = re.compile(r"\(\?([aiLmsux]+)\)")
_GROUP = re.compile(r"\((?:\?(?:P<\w+>|([aimsu]*)(-[ims]+)?:))?")
_ANCHORS: dict[str, Anchor] = {r"\b": "b", r"\B": "B", r"\A": "^", r"\Z": "$"}


class _Parser:
    """Reads an expression that `re` has accepted."""

    def __init__(self, source: str, flags: str | None) -> None:
        self.source = source
        self.pos = 0
        self.ignore_case = "i" in (flags or "")
        self.dot = "(?s:.)" if "s" in (flags or "") else "."
        self.whole = flags is not None
        self.every_line = "m" in (flags or "")

    def read(self) -> Node:
        if flags := _GLOBAL_FLAGS.match(self.source):
            if "x" in flags[1]:
                raise RegexSyntaxError("uses the flag x, which is not supported")
            self.ignore_case = self.ignore_case or "i" in flags[1]
            self.pos = flags.end()
        return self._choice()

    def _choice(self) -> Node:
        branches = [self._sequence()]
        while self._at("|"):
            self.pos += 1
            branches.append(self._sequence())
        return branches[0] if len(branches) == 1 else Choice(tuple(branches))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while self.pos < len(self.source) and self.source[self.pos] not in "|)":
            if self.source.startswith("(?#", self.pos):
                self.pos = self.source.index(")", self.pos) + 1
                continue
            parts.append(self._repeated(self._atom()))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _repeated(self, atom: Node) -> Node:
        counts = self._counts()
        if counts is None:
            return atom
        if self._at("+"):
            raise RegexSyntaxError("uses a possessive repeat, which is not supported; a plain one finds the same lines")
        if self._at("?"):
            # Which of several matches is found does not matter, only whether there is one.
            self.pos += 1
        return Repeat(atom, *counts)

    def _counts(self) -> tuple[int, int | None] | None:
        simple: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        character = self.source[self.pos : self.pos + 1]
        if character in simple:
            self.pos += 1
            return simple[character]
        if (found := _COUNTS.match(self.source, self.pos)) is None:
            return None
        self.pos = found.end()
        least, comma, most, alone = found.groups()
        if alone is not None:
            return 0, int(alone)
        if comma is None:
            return int(least), int(least)
        return int(least), int(most) if most else None

    def _atom(self) -> Node:
        character = self.source[self.pos]
        if character == "(":
            return self._group()
        if character == "[":
            return self._take(_CLASS)
        if character == "\\":
            return self._escape()
        self.pos += 1
        if character in "^$":
            return Assert("^" if character == "^" else "$")
        return Take(self.dot if character == "." else re.escape(character), self.ignore_case)

    def _escape(self) -> Node:
        found = _ESCAPE.match(self.source, self.pos)
        assert found is not None
        if (anchor := _ANCHORS.get(found[0])) is not None:
            self.pos = found.end()
            if self.every_line and anchor in "^$":
                raise RegexSyntaxError(f"uses {found[0]} with the flag m, which is not supported")
            return Assert(anchor)
        if found[0][1] in "123456789" and len(found[0]) == 2:
            raise RegexSyntaxError(f"uses the back reference {found[0]}, which is not supported")
        return self._take(_ESCAPE)

    def _take(self, shape: re.Pattern[str]) -> Take:
        found = shape.match(self.source, self.pos)
        assert found is not None
        self.pos = found.end()
        return Take(found[0], self.ignore_case)

    def _group(self) -> Node:
        found = _GROUP.match(self.source, self.pos)
        assert found is not None
        if self.source.startswith("?", found.end()):
            spelled = self.source[self.pos : self.pos + 4]
            raise RegexSyntaxError(f"uses {spelled}…: lookaround, conditions and atomic groups are not supported")
        if self.whole and {"m", "s"} & {*(found[1] or ""), *(found[2] or "")}:
            raise RegexSyntaxError(f"uses {found[0]}…: the flags m and s are supported for the whole of it only")
        self.pos = found.end()
        outside = self.ignore_case
        self.ignore_case = (outside or "i" in (found[1] or "")) and "i" not in (found[2] or "")
        inside = self._choice()
        self.ignore_case = outside
        self.pos += 1
        return inside

    def _at(self, character: str) -> bool:
        return self.source.startswith(character, self.pos)
