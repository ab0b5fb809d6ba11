"""What a script does with traps, as far as its text tells: whether an EXIT trap of ours may be set beside it. Pure.

Bash has one EXIT trap. A session uses it to save the shell's state at an `exit`, so a script that lists its traps would
see ours, and a script that sets an EXIT trap would replace it. Such a command is rewritten to run both.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from nacre.bash.tree import Program, SimpleCommand, Word
    from nacre.sessions.checkpoint import Checkpoint

_EXIT = frozenset(("EXIT", "SIGEXIT", "0"))
# Words that run the command after them in the same shell.
_PREFIXES = ("builtin", "command")
# Characters that bash may expand where they are not quoted.
_EXPANDED = frozenset("*?[{~")
_WORD = re.compile(r"[\w./:+@%-]+")


class ExitTrap(NamedTuple):
    """A command of the script that sets or removes the EXIT trap."""

    start: int
    end: int
    action: str | None
    """The action as written; None if the trap is removed."""
    value: str | None
    """The action's value, where it is fixed."""
    others: str
    """The other signals of the same command, as written."""


class TrapUse(NamedTuple):
    """How a script uses the traps and the echo of its shell."""

    lists_traps: bool = False
    shows_lines: bool = False
    """True if bash prints the script's lines as it reads them (`set -v`)."""
    shows_commands: bool = False
    """True if a rewritten command would be seen: in a trace, or in BASH_COMMAND."""
    exit_traps: tuple[ExitTrap, ...] = ()


def trap_use(script: str, state: Checkpoint | None) -> TrapUse:
    """How the script uses traps in a shell of this state, whose functions and aliases it may call."""
    use = _read(script) if "trap" in script or "set" in script or "shopt" in script else TrapUse()
    if state is None:
        return use
    lists = use.lists_traps or not _words(script).isdisjoint(_listing_names(state))
    lines = use.shows_lines or "set -o verbose" in state.options
    commands = use.shows_commands or lines or "set -o xtrace" in state.options
    return TrapUse(lists, lines, commands, () if {"trap", "builtin"} & state.names else use.exit_traps)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text))


@functools.lru_cache(maxsize=8)
def _listing_names(state: Checkpoint) -> frozenset[str]:
    """The functions and aliases that list traps, or mention one that does."""
    if "trap" not in state.function_texts and "trap" not in state.alias_texts:
        return frozenset()
    texts = state.functions | state.aliases
    found = {name for name, text in texts.items() if "trap" in text and _read(text).lists_traps}
    while more := {name for name, text in texts.items() if name not in found and not found.isdisjoint(_words(text))}:
        found |= more
    return frozenset(found)


@functools.lru_cache(maxsize=256)
def _read(script: str) -> TrapUse:
    from nacre.bash.reader import read
    from nacre.bash.tree import UnreadableError

    try:
        program = read(script)
        commands = _commands(program)
    except UnreadableError:
        # A text that cannot be read may do anything that it has a word for.
        return TrapUse("trap" in script, shows_lines="set" in script, shows_commands=True)
    traps = [arguments for name, arguments in commands if name == "trap"]
    options = [arguments for name, arguments in commands if name in ("set", "shopt")]
    lines = any(_names_option(arguments, "v", "verbose") for arguments in options)
    return TrapUse(
        lists_traps=any(_lists_traps(arguments) for arguments in traps),
        shows_lines=lines,
        shows_commands=lines
        or "BASH_COMMAND" in script
        or any(_names_option(arguments, "x", "xtrace") for arguments in options)
        or any("DEBUG" in arguments for arguments in traps),
        exit_traps=tuple(_exit_traps(program)),
    )


def _commands(program: Program) -> list[tuple[str | None, list[str | None]]]:
    """Name and arguments of every simple command, also of those inside words, here-documents and texts for `eval`.

    Raises:
        UnreadableError: the program, or a text in it, is not valid shell.
    """
    from nacre.bash.reader import read
    from nacre.bash.tree import Program, SimpleCommand, UnreadableError

    found: list[tuple[str | None, list[str | None]]] = []
    pending: list[Any] = [program]
    while pending:
        node = pending.pop()
        if isinstance(node, list | tuple):
            pending.extend(part for part in node if part is not None and not isinstance(part, str | int))
            continue
        if isinstance(node, Program) and node.damage:
            raise UnreadableError("not valid shell")
        if isinstance(node, SimpleCommand) and node.words:
            name, *arguments = map(_value, node.words)
            while name in _PREFIXES and arguments:
                name, *arguments = arguments
            if name == "eval" and None not in arguments:
                pending.append(read(" ".join(filter(None, arguments))))
            found.append((name, arguments))
        pending.append([getattr(node, attribute) for attribute in type(node).__slots__])
    return found


def _value(word: Word) -> str | None:
    """The word's value, if it has no expansions."""
    from nacre.bash.tree import Text

    if word.fixed is not None:
        return word.fixed
    parts = [
        part.text for part in word.parts if isinstance(part, Text) and (part.quoted or _EXPANDED.isdisjoint(part.text))
    ]
    return "".join(parts) if len(parts) == len(word.parts) else None


def _lists_traps(arguments: list[str | None]) -> bool:
    if not arguments:
        return True
    first = arguments[0]
    return first.startswith(("-p", "-l")) if first is not None else len(arguments) == 1


def _names_option(arguments: list[str | None], letter: str, name: str) -> bool:
    """True if `set` or `shopt` may turn the option on."""
    return any(word is None or word == name or (word.startswith("-") and letter in word) for word in arguments)


def _exit_traps(program: Program) -> Iterator[ExitTrap]:
    """The commands that set the EXIT trap of the script's own shell, as opposed to a subshell's or a function's."""
    from nacre.bash.tree import Close, Open, SimpleCommand

    elsewhere = depth = 0
    for step in program.steps:
        if isinstance(step, Open | Close):
            block, change = step.block, 1 if isinstance(step, Open) else -1
            depth += change
            if block.kind in ("subshell", "function", "coproc") or block.pipe_in or block.pipe_out:
                elsewhere += change
        elif (
            isinstance(step, SimpleCommand)
            and not (elsewhere or step.pipe_in or step.pipe_out or (depth and program.background))
            and (trap := _exit_trap(program.source, step)) is not None
        ):
            yield trap


def _exit_trap(script: str, command: SimpleCommand) -> ExitTrap | None:
    words = command.words
    if not words or words[0].fixed != "trap" or command.assignments or command.redirects:
        return None
    arguments = words[2:] if len(words) > 1 and words[1].fixed == "--" else words[1:]
    if not arguments or any(word.fixed is None for word in arguments[1:]):
        return None
    action, signals = (None, arguments) if len(arguments) == 1 else (arguments[0], arguments[1:])
    exits = [word for word in signals if (word.fixed or "").upper() in _EXIT]
    others = " ".join(script[word.start : word.end] for word in signals if word not in exits)
    if not exits:
        return None
    start, end = words[0].start, words[-1].end
    if action is None or action.fixed == "-":
        return ExitTrap(start, end, None, None, others)
    value = _value(action)
    if value is None and not _can_be_expanded_twice(action):
        return None
    return ExitTrap(start, end, script[action.start : action.end], value, others)


def _can_be_expanded_twice(word: Word) -> bool:
    """True if the word has no side effects, and cannot be an option."""
    from nacre.bash.tree import Parameter, Text

    first = word.parts[0]
    return (
        isinstance(first, Text)
        and bool(first.text)
        and not first.text.startswith("-")
        and all(isinstance(part, Text) or (isinstance(part, Parameter) and not part.operator) for part in word.parts)
    )
