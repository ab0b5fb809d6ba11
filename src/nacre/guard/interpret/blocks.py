"""Walking compound commands: what a block changes when it begins, at each alternative, and when it ends."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from nacre.bash.tree import Block, Branch, Heredoc, UnreadableError
from nacre.guard.interpret.alphabet import UNKNOWN, settled
from nacre.guard.interpret.effects import open_redirects, write_file
from nacre.guard.interpret.invocation import Call, Invocation
from nacre.guard.interpret.scope import MAX_ALTERNATIVES, Alternatives, Function, ScriptScope, merge
from nacre.guard.interpret.words import expand_text, expand_words

if TYPE_CHECKING:
    from nacre.guard.interpret.walk import Walk

# A loop is walked once per value up to here, then in batches of alternatives.
_MAX_UNROLLED: Final = 32
_MAX_ITERATIONS: Final = 2_000
# A loop that shifts its arguments is walked again with those that remain.
_MAX_SHIFTING_ROUNDS: Final = 8


@dataclass(slots=True)
class OpenBlock:
    """A block whose end has not been reached."""

    block: Block
    first: int
    base: ScriptScope
    output: list[str]
    stdin: str | None
    branches: list[ScriptScope] = field(default_factory=list)
    waiting: list[Alternatives] = field(default_factory=list)
    """The values of a `for` loop that are still to come."""
    rounds: int = 0


def open_block(walk: "Walk", block: Block, first: int) -> OpenBlock:
    """Begin a block whose content starts with the step `first`."""
    opened = OpenBlock(block, first, walk.scope, walk.output, walk.stdin)
    stdin = None
    if block.redirects:
        stdin, targets, _ = open_redirects(walk, block.redirects)
        if targets:
            span = walk.span if walk.span is not None else (block.start, block.end)
            walk.found.append(Invocation((), span, targets=targets, directory=walk.scope.directory))
    if block.pipe_in:
        walk.stdin = walk.piped
    elif stdin is not None:
        walk.stdin = stdin
    if block.kind != "chain" or block.pipe_out:
        walk.output = []
    if block.kind != "group" or block.pipe_in or block.pipe_out:
        walk.scope = walk.scope.copy()
    match block.kind:
        case "group":
            pass
        case "function":
            walk.scope.positional = ((UNKNOWN,),)
        case "for":
            _begin_loop(walk, opened)
        case _:
            for word in block.words or ():
                expand_text(word, walk)
            if block.kind == "arithmetic" and " " in block.name.strip():
                # To bash this is arithmetic, to dash and busybox two subshells.
                call = Call((block.end, block.end), via=walk.via)
                walk.run_text(block.name, call, wrapper="((", isolated=True)
    return opened


def next_branch(walk: "Walk", opened: OpenBlock, branch: Branch) -> None:
    """Begin the next alternative of an `if` or `case`."""
    if branch.continues:
        if not opened.branches:
            # The first condition has run in any case.
            opened.base, walk.scope = walk.scope, walk.scope.copy()
        return
    opened.branches.append(walk.scope)
    walk.scope = opened.base.copy()
    for word in branch.words:
        expand_text(word, walk)


def _begin_loop(walk: "Walk", opened: OpenBlock) -> None:
    block = opened.block
    lists: list[tuple[str, ...]]
    if block.words is None:
        lists = [item if not isinstance(item, str) else (item,) for item in walk.scope.positional]
    else:
        lists = expand_words(block.words, walk)
    values = list(dict.fromkeys(value for fields in lists for value in fields))
    if len(values) > 4 and all(value.isdigit() for value in values):
        # Counting loops: what is done with one number is done with all.
        values = [values[0], UNKNOWN]
    batches: list[Alternatives] = [(settled(value),) for value in values[:_MAX_UNROLLED]]
    rest = [settled(value) for value in values[_MAX_UNROLLED:]]
    batches += [tuple(rest[i : i + MAX_ALTERNATIVES]) for i in range(0, len(rest), MAX_ALTERNATIVES)]
    walk.iterations += len(batches)
    if walk.iterations > _MAX_ITERATIONS:
        raise UnreadableError("loops have too many values")
    if block.name:
        walk.scope.assign(block.name, batches[0] if batches else (UNKNOWN,))
        opened.waiting = batches[:0:-1]


def goes_round(walk: "Walk", opened: OpenBlock) -> bool:
    """True if the content of a block that has ended is walked once more."""
    if opened.waiting:
        walk.scope.assign(opened.block.name, opened.waiting.pop())
        return True
    positional = walk.scope.positional
    shifted = opened.block.kind == "loop" and positional != opened.base.positional
    if not shifted or opened.rounds >= _MAX_SHIFTING_ROUNDS or not any(positional):
        return False
    opened.rounds += 1
    opened.base = merge([opened.base, walk.scope])
    opened.base.positional = positional
    return True


def close_block(walk: "Walk", opened: OpenBlock, body: Function) -> None:
    """End a block: what is known after it, and where its output goes."""
    block = opened.block
    own_output = walk.output is not opened.output
    text = "".join(walk.output) if own_output else ""
    walk.stdin, walk.output = opened.stdin, opened.output
    match block.kind:
        case "function":
            walk.scope = opened.base
            walk.scope.define(block.name, body)
            text = ""
        case "subshell" | "coproc":
            walk.scope = opened.base
        case "if" | "case":
            ways = [*opened.branches, walk.scope]
            walk.scope = merge(ways if block.has_else else [opened.base, *ways])
        case "loop" | "chain":
            walk.scope = merge([opened.base, walk.scope])
        case _:
            pass
    if block.pipe_in or block.pipe_out:
        walk.scope = opened.base
    if block.kind == "chain":
        if own_output:
            walk.output.append(text)
        return
    for redirect in block.redirects:
        if redirect.operator in (">", ">>", ">|", "&>") and not isinstance(redirect.target, Heredoc):
            write_file(walk, expand_text(redirect.target, walk)[0], text, append=redirect.operator == ">>")
    if block.pipe_out:
        walk.piped, walk.upstream = text, walk.last_argv
    else:
        walk.output.append(text)
