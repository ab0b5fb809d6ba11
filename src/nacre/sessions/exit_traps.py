"""What a script has to do with traps: whether our watch for its exit may be set, and which traps carry it on. Pure.

Bash has one EXIT trap. The watch, which writes the state down, is in its place while a script runs; a script that shows
its traps would see it, and one that sets an EXIT trap would replace it, so there the text of the watch goes along.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from nacre.bash.tree import Command, Word
    from nacre.sessions.checkpoint import Checkpoint

# A `trap` in the place of a command that lists traps, or whose words are not known: `trap`, `trap -p`, `trap $x`.
_SHOWS = re.compile(
    r"""(?:^|[;&|({!`\n]|\b(?:then|do|else|elif|if|while|until|builtin|command|eval|time)\b)["'\\\s]*trap\b["']?"""
    r"""[ \t]*(?:$|[;&|)}`\n<>]|-[pl]|["']?[$`])""",
    re.MULTILINE,
)
# What would show the changed text of a command.
_TRACES = re.compile(r"\bset[ \t][^;&|\n]*-\w*[xv]|xtrace|verbose|BASH_COMMAND|\bDEBUG\b")
_TRACING = ("set -o xtrace", "set -o verbose")
_VERBOSE = re.compile(r"\bset[ \t][^;&|\n]*-\w*v|verbose")
_EXIT = frozenset(("EXIT", "SIGEXIT", "0"))
_WORD = re.compile(r"[\w./:+@%-]+")


class OwnTrap(NamedTuple):
    """A command of the script that sets or takes away the EXIT trap."""

    start: int
    end: int
    action: str | None
    """The word as written, which is no expansion alone; None when the trap is taken away."""
    fixed: str | None
    """What the word stands for, where that is plain."""
    others: str
    """The other signals that it is set for, as written."""


def may_watch(script: str, state: Checkpoint | None) -> bool:
    """Whether nothing that the script runs is known to list the traps of its shell."""
    if "trap" in script and _SHOWS.search(script):
        return False
    if state is None or not ("trap" in state.functions or "trap" in state.aliases):
        return True
    return _words(script).isdisjoint(_showing(state))


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text))


@functools.lru_cache(maxsize=8)
def _showing(state: Checkpoint) -> frozenset[str]:
    """The functions and aliases that list traps, or use one that does."""
    texts = {**dict(state.each_function()), **state.alias_texts}
    found = {name for name, text in texts.items() if _SHOWS.search(text.partition("{")[2] or text)}
    while more := {name for name, text in texts.items() if name not in found and not found.isdisjoint(_words(text))}:
        found |= more
    return frozenset(found)


def shows_lines(script: str, state: Checkpoint | None) -> bool:
    """Whether bash prints the lines of the script as it reads them (`set -v`): none of ours may be among them."""
    return _VERBOSE.search(script) is not None or (state is not None and "set -o verbose" in state.options)


def own_traps(script: str, state: Checkpoint | None) -> tuple[OwnTrap, ...]:
    """The commands with which the script itself sets its EXIT trap, where their text can be another."""
    if "trap" not in script or _TRACES.search(script):
        return ()
    if state is not None and (
        any(option in state.options for option in _TRACING) or not {"trap", "builtin"}.isdisjoint(state.names)
    ):
        return ()
    return _own_traps(script)


@functools.lru_cache(maxsize=64)
def _own_traps(script: str) -> tuple[OwnTrap, ...]:
    from nacre.bash.reader import read
    from nacre.bash.tree import Close, Command, Open, UnreadableError

    try:
        program = read(script)
    except UnreadableError:
        return ()
    if program.damage:
        return ()
    found, apart, depth = [], 0, 0
    for step in program.steps:
        if isinstance(step, Open | Close):
            block, change = step.block, 1 if isinstance(step, Open) else -1
            depth += change
            if block.kind in ("subshell", "function", "coproc") or block.pipe_in or block.pipe_out:
                apart += change
        elif (
            isinstance(step, Command)
            and not (apart or step.pipe_in or step.pipe_out or (depth and program.background))
            and (one := _own_trap(script, step)) is not None
        ):
            found.append(one)
    return tuple(found)


def _own_trap(script: str, command: Command) -> OwnTrap | None:
    words = command.words
    if not words or words[0].fixed != "trap" or command.assignments or command.redirects:
        return None
    given = words[2:] if len(words) > 1 and words[1].fixed == "--" else words[1:]
    if not given or any(word.fixed is None for word in given[1:]):
        return None
    action, signals = (None, given) if len(given) == 1 else (given[0], given[1:])
    ours = [word for word in signals if (word.fixed or "").upper() in _EXIT]
    others = [script[word.start : word.end] for word in signals if word not in ours]
    if not ours:
        return None
    start, end = words[0].start, words[-1].end
    if action is None or action.fixed == "-":
        return OwnTrap(start, end, None, None, " ".join(others))
    text = script[action.start : action.end]
    fixed = "" if text in ("''", '""') else action.fixed
    if fixed is None and not _begins_plainly(action):
        return None
    return OwnTrap(start, end, text, fixed, " ".join(others))


def _begins_plainly(word: Word) -> bool:
    """Whether it can be no option, and may be expanded twice."""
    from nacre.bash.tree import Fixed, Parameter

    first = word.parts[0]
    return (
        isinstance(first, Fixed)
        and bool(first.text)
        and not first.text.startswith("-")
        and all(isinstance(part, Fixed) or (isinstance(part, Parameter) and not part.operator) for part in word.parts)
    )
