"""A failure that a pipe hides: said in words, from the stage codes alone."""

from __future__ import annotations

from nacre.warden.stages import BROKEN_PIPE


def hidden_failure(stages: tuple[int, ...], exit_code: int | None) -> str | None:
    """The notice for a pipeline whose status hides a failing stage; None when it hides nothing."""
    if len(stages) < 2 or exit_code is None or stages[-1] != exit_code:
        return None
    failed = [(at, code) for at, code in enumerate(stages[:-1], start=1) if code not in (0, BROKEN_PIPE)]
    if not failed or exit_code != 0:
        return None
    which = ", ".join(f"stage {at} exited with {code}" for at, code in failed)
    return f"a pipe hides a failure: {which} (stage codes {' | '.join(map(str, stages))})"
