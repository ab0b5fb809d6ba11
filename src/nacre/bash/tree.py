"""The shape of a script: words made of parts, commands, and blocks, laid out as one flat sequence.

A `Program` is flat: a block is an `Open` … `Close` pair around its content, so neither reading nor walking needs
recursion, however deep the script nests. SimpleCommand, Block and Heredoc are filled in while reading (a pipe or a
redirect is seen only after what it belongs to) and are not changed afterwards.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias


class UnreadableError(Exception):
    """The script cannot be read within the limits; the guard must refuse it."""


@dataclass(frozen=True, slots=True)
class Text:
    """Characters as written, quotes already removed."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """`$x`, `${x}`, `${x[1]}`, `${x:-word}` and so on."""

    name: str
    operator: str = ""
    operand: "Word | None" = None
    index: "Word | None" = None
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Substitution:
    """`$(…)`, backquotes, `<(…)` or `>(…)`."""

    program: "Program"
    form: Literal["value", "<", ">"] = "value"
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`$((…))`; only its substitutions matter."""

    content: "Word"
    quoted: bool = False


Part: TypeAlias = Text | Parameter | Substitution | Arithmetic


class Word(NamedTuple):
    """One word as written, with where it stands in the source."""

    # A named tuple, because a long command makes half a million of these.

    parts: tuple[Part, ...]
    start: int
    end: int
    fixed: str | None = None
    """The value when the word is plain characters without any expansion."""


@dataclass(slots=True)
class Heredoc:
    """The text that a here-document feeds; filled in when its body has been read."""

    delimiter: str
    quoted: bool
    strip_tabs: bool
    body: Word | None = None


@dataclass(frozen=True, slots=True)
class Redirect:
    """One redirection; `target` is a word, or the here-document."""

    operator: str
    descriptor: str
    target: Word | Heredoc


@dataclass(frozen=True, slots=True)
class Assignment:
    """`name=value`, `name+=value`, `name[index]=value` or `name=(values)`."""

    name: str
    value: Word | None
    values: tuple[Word, ...] | None = None
    append: bool = False
    index: Word | None = None


@dataclass(slots=True)
class SimpleCommand:
    """A simple command: assignments, words, redirections."""

    start: int
    end: int = 0
    assignments: list[Assignment] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)
    pipe_in: bool = False
    pipe_out: bool = False


BlockKind: TypeAlias = Literal[
    "subshell", "group", "if", "loop", "for", "case", "function", "chain", "test", "arithmetic", "coproc"
]


@dataclass(slots=True)
class Block:
    """A compound command, or the part of an and-or list that may not run (`chain`)."""

    kind: BlockKind
    start: int
    name: str = ""
    """Of a function or a loop's variable; of an arithmetic command its text."""
    words: list[Word] | None = None
    redirects: list[Redirect] = field(default_factory=list)
    pipe_in: bool = False
    pipe_out: bool = False
    has_else: bool = False
    end: int = 0


@dataclass(frozen=True, slots=True)
class Open:
    block: Block


@dataclass(frozen=True, slots=True)
class Branch:
    """The next alternative of an `if` or `case` begins."""

    block: Block
    words: tuple[Word, ...] = ()
    continues: bool = False
    """True if it follows its condition (`then`) rather than starting anew."""


@dataclass(frozen=True, slots=True)
class Close:
    block: Block


Step: TypeAlias = SimpleCommand | Open | Branch | Close


@dataclass(slots=True)
class Program:
    """The steps of a script in reading order."""

    source: str
    steps: list[Step] = field(default_factory=list)
    damage: list[int] = field(default_factory=list)
    """Offsets where the text is not valid shell."""
    background: bool = False
    """Some command was put in the background with `&`."""
    unfinished: bool = False
    """A line that followed would belong to a here-document, an operator or a backslash at the end."""
    quotes: list[tuple[int, int]] = field(default_factory=list)
    """Where the source has quoted texts, quotes included; an unclosed one ends beyond the source."""
    origin: int | None = 0
    """Where the source stands in the text around it; None when escapes were removed from it."""


def each_word(program: Program) -> Iterator[Word]:
    """Return the words of a program, not those inside its substitutions or here-documents."""
    for step in program.steps:
        redirects: list[Redirect] = []
        if isinstance(step, SimpleCommand):
            yield from step.words
            for item in step.assignments:
                yield from (word for word in (item.value, item.index, *(item.values or ())) if word is not None)
            redirects = step.redirects
        elif isinstance(step, Branch):
            yield from step.words
        elif isinstance(step, Open):
            yield from step.block.words or ()
            redirects = step.block.redirects
        yield from (redirect.target for redirect in redirects if not isinstance(redirect.target, Heredoc))


def substitutions(words: Iterable[Word]) -> Iterator[Program]:
    """Return the programs that the words run, also those in the operands of their parameters."""
    waiting = list(words)
    while waiting:
        for part in waiting.pop().parts:
            if isinstance(part, Substitution):
                yield part.program
            elif isinstance(part, Arithmetic):
                waiting.append(part.content)
            elif isinstance(part, Parameter):
                waiting += (word for word in (part.operand, part.index) if word is not None)
