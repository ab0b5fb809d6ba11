"""Flat fragments of a command line, for rules that match the beginning of a command as text.

One pass with quotes and escapes. Nothing is looked into: on any nesting, here-document or unbalanced quote there are
no fragments at all, and only the whole command is matched.
"""

import re
from dataclasses import dataclass
from typing import Final

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=(?:'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.|[^\s'\"\\])*\s+")
_OPERATORS: Final = ("||", "|&", "&&", "|", "&", ";", "\n")
_REDIRECTS: Final = (">|", ">&", "<&", "&>>", "&>")


@dataclass(frozen=True, slots=True)
class Fragment:
    """One command between separators, as written."""

    text: str
    reads_pipe: bool


def fragments(command: str) -> tuple[Fragment, ...]:
    """The flat fragments of a command, or none when it is not flat."""
    found: list[Fragment] = []
    reads_pipe = False
    start = position = 0
    size = len(command)
    at_word_start = True

    def finish(end: int) -> None:
        nonlocal reads_pipe
        text = command[start:end].strip()
        if text:
            found.append(Fragment(text, reads_pipe))

    while position < size:
        char = command[position]
        if char in "`()" or command.startswith(("$(", "${", "<<"), position):
            return ()
        if char in "{}" and at_word_start and command[position + 1 : position + 2] in ("", " ", "\t", "\n", ";"):
            return ()
        if char == "\\":
            if position + 1 >= size:
                return ()
            position += 2
            at_word_start = False
            continue
        if char in "'\"":
            end = _closing_quote(command, position)
            if end is None:
                return ()
            position, at_word_start = end, False
            continue
        if char == "#" and at_word_start:
            end_of_line = command.find("\n", position)
            finish(position)
            position = start = size if end_of_line < 0 else end_of_line
            continue
        redirect = next((item for item in _REDIRECTS if command.startswith(item, position)), None)
        if redirect is not None:
            position += len(redirect)
            at_word_start = True
            continue
        operator = next((item for item in _OPERATORS if command.startswith(item, position)), None)
        if operator is None:
            at_word_start = char in " \t"
            position += 1
            continue
        blank = not command[start:position].strip()
        finish(position)
        # A pipe goes on over blank lines until the next command.
        if not (operator == "\n" and blank):
            reads_pipe = operator in ("|", "|&")
        position += len(operator)
        start, at_word_start = position, True
    finish(size)
    return tuple(found)


def _closing_quote(text: str, position: int) -> int | None:
    """The offset after the quoted string that begins here; None when it does not end, or holds a substitution."""
    quote = text[position]
    position += 1
    while position < len(text):
        char = text[position]
        if char == quote:
            return position + 1
        if quote == '"':
            if char == "\\":
                position += 1
            elif char == "`" or text.startswith(("$(", "${"), position):
                return None
        position += 1
    return None


def without_assignments(text: str) -> str:
    """The fragment without its leading NAME=value words."""
    while match := _ASSIGNMENT.match(text):
        text = text[match.end() :]
    return text
