"""What the next result says when a session has lost its shell: why, and what of its state is there. Pure."""

from __future__ import annotations

from typing import Literal

from nacre.backend import Ending

ShellFate = Literal["waits", "left", "kept", "timeout", "stop", "exit", "signal", "spent", "lost", "slow"]
"""What became of the shell after a turn: it waits for the next one, or why there is none any more."""

WHY_LOST = {
    "timeout": "the timeout ended the last one",
    "stop": "the last one ended with its cancelled command",
    "kept": "the last one went on with its job",
    "left": "the last one stayed with what it left running",
    "signal": "the last one was killed",
    "lost": "the last one was lost",
    "spent": "the last one could not go on (its limit on open files, or a builtin that was switched off)",
    "slow": "the last one took too long to write its state down",
}
EXITED = "the last one ended (exit, set -e or set -u)"
EXITED_UNSEEN = "the last one ended (exec, or exit in a script that lists traps or has an EXIT trap set by a function)"
IDLE = "the last one was ended while it was not used"
WORN_OUT = "the last one was asked as often as it can be"
DAMAGED = "the last one was ended after a syntax error that damages bash"

RESTORED = "directory, variables and functions as before"
KEPT = "directory, variables and functions kept"
BEFORE_LAST = "directory, variables and functions as before its last command"
IN_PART = "directory, umask and exported variables as before, the rest was too large to keep"
WITHOUT_VARIABLES = "directory and functions as before, variables as before its last command"
_JOBS_LOST = "$!, jobs and wait start empty"

ANEW = "new shell: its state could not be restored in time, so directory and variables start anew"
NEW_ENVIRONMENT = "new shell: the program's environment has changed, so directory and variables start anew"
TOO_LARGE = (
    "the shell's state is too large to be kept whole: only its directory and exported variables would survive it"
)


def fate_of(ending: Ending, *, leaving: bool) -> ShellFate:
    """What became of a shell that its runner has reaped; `leaving` says that it was told to exit."""
    if leaving:
        return "left"
    if ending.why is not None:
        return ending.why
    if ending.code is not None:
        return "exit"
    return "signal" if ending.signal is not None else "lost"


def new_shell(why: str, state: str, *, jobs_lost: bool) -> str:
    """The notice of the first result of the next shell."""
    return f"new shell: {why}; {state}" + (f"; {_JOBS_LOST}" if jobs_lost else "")
