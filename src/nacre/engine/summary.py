"""From the facts of an ending to an outcome and the notices that go with it. Pure."""

from __future__ import annotations

from dataclasses import replace

from nacre.backend import Ending, Survivor
from nacre.engine.hidden_failure import hidden_failure
from nacre.engine.run import Run
from nacre.output.redaction.redactor import Redactor
from nacre.request import Lifted, ShellRequest
from nacre.result import Exited, Lost, Outcome, Signalled, Stopped, TimedOut
from nacre.warden.stages import producers_status

# A survivor's command line is shown to be recognised, not to be read.
ARGV_CHARACTERS = 60


def outcome_of(ending: Ending, limit: float | None) -> Outcome:
    if ending.why == "timeout":
        return TimedOut(limit if limit is not None else 0.0, "SIGKILL" if ending.forced else "SIGTERM")
    if ending.why == "stop":
        return Stopped("request")
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
    changed = replace(ending, code=code, stages=stages)
    if code == ending.code:
        return changed, None
    return changed, f"the exit code is that of the command before `{lifted.stage}`"


def notices_of(run: Run, ending: Ending, request: ShellRequest) -> list[str]:
    """What the reader of a result should know beyond its status and output."""
    notices = [f"rm was refused by nacre: {path} is critical; the script went on" for path in ending.refused]
    if ending.out_of_memory:
        notices.append("out of memory: the kernel killed a process of this command or beside it")
    if hidden := hidden_failure(ending.stages, ending.code, request):
        notices.append(hidden)
    if run.survivors:
        notices.append(f"still running: {', '.join(_spell(survivor) for survivor in run.survivors)}")
    elif run.held and not ending.unkillable:
        notices.append("something outside this command still holds its output; later output is not shown")
    if ending.unkillable:
        names = ", ".join(f"{_spell(one)}, state {one.state}" for one in ending.unkillable)
        notices.append(f"could not be killed: {names}")
    if ending.lost is not None and ending.why is not None:
        notices.append(ending.lost)
    return [*notices, *ending.notices]


def redacted_survivors(survivors: tuple[Survivor, ...], redactor: Redactor) -> tuple[Survivor, ...]:
    """The survivors without the hidden values that their command lines may hold."""
    if not redactor:
        return survivors
    return tuple(replace(one, argv=tuple(map(redactor.redact_text, one.argv))) for one in survivors)


def _spell(survivor: Survivor) -> str:
    import shlex

    line = shlex.join(survivor.argv) if survivor.argv else "?"
    if len(line) > ARGV_CHARACTERS:
        line = f"{line[: ARGV_CHARACTERS - 1]}…"
    return f"pid {survivor.pid} ({line})"
