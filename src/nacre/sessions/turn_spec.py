"""What one turn asks of a session's shell, decided from the command's text and the shell's last known state. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from nacre.command import Command
from nacre.sessions.checkpoint import Checkpoint
from nacre.sessions.exit_traps import ExitTrap, trap_use
from nacre.sessions.state_safety import command_words, is_whole


class TurnSpec(NamedTuple):
    """One turn: its script, and what holds for this script alone."""

    script: str
    env: Mapping[str, str] | None = None
    enter: str | None = None
    """The directory to enter first."""
    back: str | None = None
    """The directory to return to; None stays where the script ends."""
    back_before: str = ""
    """The value of OLDPWD after the return, as a word of bash."""
    prologue: str = ""
    """The run-time guard: a text that is evaluated before the script, and undone after it."""
    side: bool = False
    """True if the script writes to the third stream."""
    previous: int = 0
    """The exit code of the command before, for `$?`."""
    debug: str = ""
    """The DEBUG trap of the session, which the shell has only while it runs a script."""
    keeps_state: bool = False
    """True if the script is known to leave its shell as it is."""
    stages: bool = False
    """True if a line after the script takes its stage codes."""
    saves_exit: bool = False
    """True if an `exit` in the script saves the shell's state."""
    exit_traps: tuple[ExitTrap, ...] = ()
    """The script's own EXIT traps that are rewritten to save the state first."""
    traced: bool = False
    """True if a trace of the script may go to a descriptor of its own (BASH_XTRACEFD)."""


def turn_spec(
    command: Command,
    state: Checkpoint | None,
    *,
    cwd: str,
    env: Mapping[str, str] | None,
    here: bool,
    stays: bool,
    previous: int,
    debug: str,
) -> TurnSpec:
    """The turn of a command in a shell that is in `cwd` and was last in this state.

    Args:
        env: variables for this command alone.
        here: True if the command runs where the shell is.
        stays: True if the shell stays in the command's directory.
        previous: the exit code of the command before.
        debug: the DEBUG trap of the session.
    """
    script = command.script
    enter = None if here or command.cwd == cwd else command.cwd
    back = None if enter is None or stays else cwd
    back_before = "" if back is None or state is None else state.directory_before
    # Bash forks a child for most codes.
    previous = previous if "?" in script else 0
    spec = TurnSpec(script, env, enter, back, back_before, command.prologue, command.side, previous, debug)
    if (enter is None or back is not None) and not debug and _keeps_state(command, state):
        return spec._replace(keeps_state=True, stages=command.stages)
    use = trap_use(script, state)
    return spec._replace(
        stages=command.stages and not use.shows_lines and is_whole(script),
        saves_exit=not use.lists_traps,
        exit_traps=() if use.lists_traps or use.shows_commands else use.exit_traps,
        traced="BASH_XTRACEFD" in script or (state is not None and state.traces_elsewhere),
    )


def _keeps_state(command: Command, state: Checkpoint | None) -> bool:
    """True if the script consists of programs and harmless builtins, and no trap or function of the shell runs."""
    if state is None or command.prologue or state.traps or state.traces_elsewhere or "set -o verbose" in state.options:
        return False
    words = command_words(command.script)
    return words is not None and words.isdisjoint(state.names)
