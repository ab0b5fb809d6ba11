"""A failure that a pipe hides: said in words, from the stage codes and the programs of the stages."""

from __future__ import annotations

from nacre.warden.stages import BROKEN_PIPE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.bash.tree import Close, Open, Program, SimpleCommand, Word
    from nacre.request import ShellRequest

# Programs whose exit code 1 is an answer ("no match", "they differ", "it is not so"), not a failure.
_ANSWERING = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "diff", "cmp", "test", "["})
_ANSWERING_GIT = frozenset({"diff", "grep"})
_ANSWER = 1


def hidden_failure(stages: tuple[int, ...], exit_code: int | None, request: ShellRequest) -> str | None:
    """The notice for a pipeline whose status hides a failing stage; None when it hides nothing."""
    if len(stages) < 2 or exit_code != 0 or stages[-1] != exit_code:
        return None
    failed = [(at, code) for at, code in enumerate(stages[:-1], start=1) if code not in (0, BROKEN_PIPE)]
    if any(code == _ANSWER for _, code in failed):
        answering = _answering_stages(request, len(stages))
        failed = [(at, code) for at, code in failed if code != _ANSWER or at not in answering]
    if not failed:
        return None
    which = ", ".join(f"stage {at} exited with {code}" for at, code in failed)
    return f"a pipe hides a failure: {which} (stage codes {' | '.join(map(str, stages))})"


def _answering_stages(request: ShellRequest, count: int) -> set[int]:
    """The stages, counted from 1, that answer with their exit code, in the last pipeline of so many stages."""
    # Loaded for the few results that need it.
    from nacre.bash.reader import read
    from nacre.bash.tree import UnreadableError

    try:
        found = _pipelines(read(request.command))
    except UnreadableError:
        return set()
    # The status of a lifted last stage is not among the codes.
    lengths = (count,) if request.lifted is None else (count, count + 1)
    for length in lengths:
        for stages in reversed(found):
            if len(stages) == length:
                return {at for at, stage in enumerate(stages, start=1) if _answers(stage)}
    return set()


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
