"""What the stage codes of a pipeline mean, for the near and the far side alike."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# What a stage reports when its reader closed early (`yes | head`): not a failure.
BROKEN_PIPE = 128 + 13


def producers_status(stages: Sequence[int], code: int, *, producer: int) -> tuple[int, tuple[int, ...]]:
    """The exit code and the stage codes without the last stage; `producer` counts from the end.

    A last stage that failed itself is what the caller must hear of: then the code stays.
    """
    if len(stages) < -producer:
        return code, tuple(stages)
    kept = tuple(stages[: producer + 1])
    if code != 0:
        return code, (*kept, code)
    # `head` had enough and closed the pipe: what its producer died of is no failure.
    return (0 if kept[-1] == BROKEN_PIPE else kept[-1]), kept


# An exit code that is an answer of some programs ("no match", "they differ"), not a failure.
_ANSWER = 1


def hidden_failure(
    stages: Sequence[int], code: int | None, answering: Sequence[Sequence[int]], *, lifted: bool = False
) -> str | None:
    """The notice for a pipeline whose status hides a failing stage; None when it hides nothing.

    Args:
        answering: for each pipeline of the script, 1 for each stage whose exit code 1 is an answer and 0 for others.
        lifted: True if the code of the last stage is not among the codes.
    """
    if len(stages) < 2 or code != 0 or stages[-1] != code:
        return None
    failed = [(at, status) for at, status in enumerate(stages[:-1], start=1) if status not in (0, BROKEN_PIPE)]
    answers = _flags(answering, len(stages), lifted=lifted) if any(status == _ANSWER for _, status in failed) else ()
    failed = [(at, status) for at, status in failed if status != _ANSWER or not any(answers[at - 1 : at])]
    if not failed:
        return None
    which = ", ".join(f"stage {at} exited with {status}" for at, status in failed)
    # The other one of two stages has ended with 0.
    codes = f" (stage codes {' | '.join(map(str, stages))})" if len(stages) > 2 else ""
    return f"a pipe hides a failure: {which}{codes}"


def _flags(answering: Sequence[Sequence[int]], count: int, *, lifted: bool) -> Sequence[int]:
    """The flags of the last pipeline of so many stages."""
    for length in (count, count + 1) if lifted else (count,):
        for flags in reversed(answering):
            if len(flags) == length:
                return flags
    return ()
