"""The status of a pipeline whose last stage only selects lines: its producer's. Told alike by the near and far side."""

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
