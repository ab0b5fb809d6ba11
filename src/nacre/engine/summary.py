"""From the end of a run to its result: the one place that builds a ShellResult."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from nacre.backend import Ending, Survivor
from nacre.call_budget import Budget
from nacre.engine.capture import Capture
from nacre.engine.hidden_failure import answering_stages
from nacre.engine.run import Run
from nacre.output.redaction.redactor import Redactor
from nacre.planning.plan import Plan
from nacre.profile import Profile
from nacre.request import ShellRequest
from nacre.result import Clock, Exited, Lost, Outcome, ShellResult, Signalled, Stopped, TimedOut
from nacre.warden import record
from nacre.warden.stages import hidden_failure, producers_status

if TYPE_CHECKING:
    from nacre.lifted_stage import Lifted


class Finished(NamedTuple):
    """A run that is over, and what its result is made of."""

    run: Run
    ending: Ending
    planned: Plan
    profile: Profile
    capture: Capture
    before: Sequence[str] = ()
    """Notices that come before all others."""
    after: Sequence[str | None] = ()
    """Notices that come after all others."""
    adopted: str | None = None
    """The job that the survivors were made."""


def summarise(finished: Finished) -> ShellResult:
    """The result of a run that is over."""
    run, ending, planned, profile, capture, before, after, adopted = finished
    request, survivors = planned.request, run.survivors
    words: str | None = None
    if run.command.budget is not None:
        ending, words = spent(run, ending, run.command.budget)
        # The words of a command that was stopped are in its outcome.
        after = (None if ending.why == "stop" else words, *after)
    if request.lifted is not None:
        ending, notice = producers_ending(ending, request.lifted)
        after = (notice, *after)
    if planned.hides:
        survivors = redacted_survivors(survivors, planned.redactor)
        ending = ending._replace(unkillable=redacted_survivors(ending.unkillable, planned.redactor))
    outcome = outcome_of(ending, planned.limit, words)
    plain = type(outcome) is Exited and ending.budget is None and not ending.out_of_memory
    keep_all = profile.keep_partial and isinstance(outcome, TimedOut | Stopped)
    outputs, problems = capture.outputs(keep_all=keep_all, ending=ending)
    notices = [*before, *request.notices, *problems, *notices_of(run, ending, survivors, request)]
    for notice in after:
        if notice is not None:
            notices.append(notice)
    return ShellResult(
        command=request.command,
        outcome=outcome,
        output=outputs[0],
        stderr=outputs[1] if len(outputs) > 1 else None,
        cwd=run.command.cwd,
        started_at=run.started_at,
        elapsed=run.watch.ended - run.watch.began,
        timeout=planned.limit,
        clock=None if plain else clock_of(outcome, ending, planned),
        requested_timeout=request.requested_timeout,
        stages=ending.stages,
        survivors=survivors,
        adopted=adopted,
        notices=tuple(notices),
    )


def spent(run: Run, ending: Ending, budget: Budget) -> tuple[Ending, str | None]:
    """Return the ending with the limit of its budget that was reached, and the words about it."""
    # Few calls have one.
    from nacre.engine.spent_budget import with_budget, words_of

    ending = with_budget(run, ending)
    return ending, words_of(ending, budget)


def clock_of(outcome: Outcome, ending: Ending, planned: Plan) -> Clock | None:
    """Return the limit that has ended the command, or was reached by it."""
    if isinstance(outcome, TimedOut):
        return "wall_seconds" if planned.cut_by_budget else "timeout"
    if ending.budget is not None:
        from nacre.engine.spent_budget import FIELDS

        return FIELDS[ending.budget]
    if isinstance(outcome, Stopped):
        return "stop"
    return "memory" if ending.out_of_memory else None


def outcome_of(ending: Ending, limit: float | None, budget: str | None = None) -> Outcome:
    if ending.why == "timeout":
        return TimedOut(limit if limit is not None else 0.0, "SIGKILL" if ending.forced else "SIGTERM")
    if ending.why == "stop":
        return Stopped(budget or "request")
    if ending.lost is not None:
        return Lost(ending.lost)
    if ending.signal is not None:
        return Signalled(ending.signal)
    if ending.code is not None:
        return Exited(ending.code)
    return Lost("the backend reported no status")


def producers_ending(ending: Ending, lifted: Lifted | None) -> tuple[Ending, str | None]:
    """The ending with the producer's status in place of the lifted last stage's, and the notice that says so."""
    if lifted is None or ending.code is None:
        return ending, None
    code, stages = producers_status(ending.stages, ending.code, producer=lifted.producer)
    changed = ending._replace(code=code, stages=stages)
    if code == ending.code:
        return changed, None
    return changed, f"the exit code is of the command before `{lifted.stage}`"


def notices_of(run: Run, ending: Ending, survivors: tuple[Survivor, ...], request: ShellRequest) -> list[str]:
    """What the reader of a result should know beyond its status and output."""
    notices: list[str] = []
    for path in ending.refused:
        notices.append(f"rm was refused by nacre: {path} is critical; the script went on")
    if ending.out_of_memory:
        notices.append("out of memory: the kernel killed a process of this command or beside it")
    if len(ending.stages) > 1:
        answering = answering_stages(request.command) if 1 in ending.stages else []
        hidden = hidden_failure(ending.stages, ending.code, answering, lifted=request.lifted is not None)
        notices += [hidden] if hidden else []
    if survivors:
        notices.append(record.still_running([(one.pid, one.argv) for one in survivors]))
    elif run.watch.held and not ending.unkillable:
        notices.append("something outside this command still holds its output; later output is not shown")
    if ending.unkillable:
        names = ", ".join(f"{record.spell_process(one.pid, one.argv)}, state {one.state}" for one in ending.unkillable)
        notices.append(f"could not be killed: {names}")
    if ending.lost is not None and ending.why is not None:
        notices.append(ending.lost)
    return [*notices, *ending.notices]


def redacted_survivors(survivors: tuple[Survivor, ...], redactor: Redactor) -> tuple[Survivor, ...]:
    """The survivors without the hidden values that their command lines may hold."""
    if not redactor:
        return survivors
    return tuple(replace(one, argv=tuple(map(redactor.redact_text, one.argv))) for one in survivors)
