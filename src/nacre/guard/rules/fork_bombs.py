"""Rule `no_fork_bomb`: functions that start themselves again side by side, without a condition that ends it."""

import re
from collections.abc import Iterator
from typing import Final

from nacre.bash.tree import Close, Open, Program, SimpleCommand
from nacre.guard.interpret.invocation import Invocation

# What may not run, or ends the function before it calls itself.
_CONDITIONAL: Final = frozenset(("if", "case", "loop", "for", "chain"))
_ENDS: Final = frozenset(("return", "exit", "exec", "break"))
_IN_CODE: Final = re.compile(
    r"\bfork\b(?:\s*\(\s*\))?\s+while\s+(?:\(?\s*)?(?:fork\b|1\b|true\b)"
    r"|\bwhile\s*\(?\s*(?:1|True|true)\s*\)?\s*(?::|do|\{|;)?\s*(?:os\.)?fork\b"
    r"|\b(?:loop|forever)\s*(?:do|\{)\s*fork\b"
)
_INTERPRETER: Final = re.compile(r"(?:python[\d.]*|pypy3?|perl|ruby)")


def fork_bomb(program: Program) -> str | None:
    """Return the name of a function of the program that is a fork bomb."""
    calls: dict[str, set[str]] = {}
    side_by_side: set[str] = set()
    for name, called, piped in _unconditional_calls(program):
        calls.setdefault(name, set()).add(called)
        if piped or program.background:
            side_by_side.add(name)
    for name in side_by_side:
        reached: set[str] = set()
        waiting = [name]
        while waiting:
            new = calls.get(waiting.pop(), set()) - reached
            reached |= new
            waiting += new
        if name in reached:
            return name
    return None


def _unconditional_calls(program: Program) -> Iterator[tuple[str, str, bool]]:
    """Return each function, what it always calls, and whether it does so in a pipe."""
    functions: list[tuple[str, int]] = []
    ended: set[str] = set()
    conditional = piped = 0
    for step in program.steps:
        match step:
            case Open(block):
                if block.kind == "function":
                    functions.append((block.name, conditional))
                conditional += block.kind in _CONDITIONAL
                piped += block.pipe_in or block.pipe_out
            case Close(block):
                if block.kind == "function":
                    functions.pop()
                conditional -= block.kind in _CONDITIONAL
                piped -= block.pipe_in or block.pipe_out
            case SimpleCommand() if functions and step.words:
                name, outside = functions[-1]
                called = step.words[0].fixed
                if called in _ENDS:
                    ended.add(name)
                elif called is not None and conditional == outside and name not in ended:
                    yield name, called, bool(piped or step.pipe_in or step.pipe_out)
            case _:
                pass


def check(invocation: Invocation) -> str | None:
    """Return the reason to refuse code of another language, or None."""
    if not _INTERPRETER.fullmatch(invocation.name):
        return None
    code = "\n".join((*invocation.words, invocation.stdin or ""))
    return "the code forks without end" if "fork" in code and _IN_CODE.search(code) else None
