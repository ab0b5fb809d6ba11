"""Which stages of a script's pipelines answer with their exit code, so that 1 is not a failure (D20)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.bash.tree import Close, Open, Program, SimpleCommand, Word

# Programs whose exit code 1 is an answer ("no match", "they differ", "it is not so"), not a failure.
_ANSWERING = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "diff", "cmp", "test", "["})
_ANSWERING_GIT = frozenset({"diff", "grep"})


def answering_stages(script: str) -> list[list[int]]:
    """For each pipeline, in the order of their ends: 1 for each stage that answers with its exit code, else 0."""
    # Loaded for the few results that need it.
    from nacre.bash.reader import read
    from nacre.bash.tree import UnreadableError

    try:
        return [[int(_answers(stage)) for stage in stages] for stages in _pipelines(read(script))]
    except UnreadableError:
        return []


def _pipelines(program: Program) -> list[list[SimpleCommand | Open]]:
    """The pipelines of a script in the order of their ends; those of its subshells leave no codes behind."""
    from nacre.bash.tree import Close, Open, SimpleCommand

    ended: list[list[SimpleCommand | Open]] = []
    open_blocks: list[list[SimpleCommand | Open]] = [[]]
    subshells = 0
    for step in program.steps:
        if isinstance(step, Close):
            open_blocks.pop()
            subshells -= _is_subshell(step)
        elif isinstance(step, SimpleCommand | Open):
            place = step if isinstance(step, SimpleCommand) else step.block
            if not place.pipe_in:
                open_blocks[-1] = []
            open_blocks[-1].append(step)
            if not place.pipe_out and not subshells:
                ended.append(open_blocks[-1])
            if isinstance(step, Open):
                open_blocks.append([])
                subshells += _is_subshell(step)
    return ended


def _is_subshell(step: Open | Close) -> bool:
    block = step.block
    return block.kind in ("subshell", "coproc") or block.pipe_in or block.pipe_out


def _answers(stage: SimpleCommand | Open) -> bool:
    from nacre.bash.tree import Open
    from nacre.guard.programs.git_words import git_call
    from nacre.guard.programs.inner import basename
    from nacre.guard.programs.wrappers import unwrap

    if isinstance(stage, Open):
        return stage.block.kind == "test"
    argv = tuple(_text(word) for word in stage.words)
    while argv and (inner := unwrap(argv)) is not None and inner.commands:
        argv = inner.commands[0]
    if not argv:
        return False
    if basename(argv[0]) in _ANSWERING:
        return True
    call = git_call(argv)
    return call is not None and call.subcommand in _ANSWERING_GIT


def _text(word: Word) -> str:
    """A word as written without its quotes; what is expanded is not known here, and a mark keeps its place."""
    from nacre.bash.tree import Text

    return "".join(part.text if isinstance(part, Text) else "?" for part in word.parts) or word.fixed or ""
