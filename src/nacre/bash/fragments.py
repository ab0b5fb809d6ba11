"""Flat fragments of a command line, for rules that match the beginning of a command as text.

A command with a substitution, a subshell, a group, a here-document, or text that is not valid shell has no fragments;
only the whole command is matched then.
"""

import re
from dataclasses import dataclass
from typing import Final

from nacre.bash.reader import read
from nacre.bash.tree import Block, Close, Parameter, SimpleCommand, Text, UnreadableError, Word, each_word

_SEPARATORS: Final = re.compile(r"(?:[\s;|&]|\\\n|#[^\n]*)*")


@dataclass(frozen=True, slots=True)
class Fragment:
    """One command between separators, as written."""

    text: str
    reads_pipe: bool
    bare: str
    """The text without the assignments in front of it."""


def fragments(command: str) -> tuple[Fragment, ...]:
    """Return the flat fragments of a command, or none when it is not flat."""
    try:
        program = read(command)
    except UnreadableError:
        return ()
    ends_in_backslash = (len(command) - len(command.rstrip("\\"))) % 2
    if program.damage or ends_in_backslash or not all(_is_flat_word(word, command) for word in each_word(program)):
        return ()
    found: list[Fragment] = []
    end = 0
    for step in program.steps:
        head = step if isinstance(step, SimpleCommand) else step.block
        if any(redirect.operator.startswith("<<") for redirect in head.redirects):
            return ()
        if isinstance(head, SimpleCommand):
            if any(item.values is not None for item in head.assignments):
                return ()
            separators = _SEPARATORS.match(command, end)
            start = separators.end() if separators is not None else end
            # Behind a keyword (`then A=1 x`) nothing stands at the beginning of the fragment.
            bare = head.words[0].start if head.words and start == head.start else start
            found.append(Fragment(command[start : head.end].strip(), head.pipe_in, command[bare : head.end].strip()))
            end = head.end
        elif not _is_flat_block(head, command):
            return ()
        elif isinstance(step, Close):
            end = max(end, head.end)
    return tuple(found)


def _is_flat_block(block: Block, command: str) -> bool:
    if block.kind == "test":
        return "(" not in command[block.start : block.end]
    return block.kind in ("chain", "if", "for") or (block.kind == "loop" and not block.words)


def _is_flat_word(word: Word, command: str) -> bool:
    if any(isinstance(part, Parameter) for part in word.parts) and "${" in command[word.start : word.end]:
        return False
    texts = [part for part in word.parts if not isinstance(part, Parameter)]
    return all(isinstance(part, Text) and (part.quoted or "(" not in part.text) for part in texts)
