"""The EXIT trap that saves a shell's state when a script ends its shell, alone or before a trap of the script. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from nacre.sessions.checkpoint import DUMP, VARIABLE
from nacre.sessions.exit_traps import ExitTrap
from nacre.warden.launch import quoted
from nacre.warden.protocol import TEXT_FD

# Keeps a group out of a trace that goes to BASH_XTRACEFD: bash stops writing there while the descriptor is closed. The
# here-string gives the variable a value if it has none, because the redirection fails without one.
UNTRACED = '<<<"${BASH_XTRACEFD:=2}" {BASH_XTRACEFD}>&-'


class ExitSaver:
    """The texts of the trap for a shell whose script file has this descriptor."""

    def __init__(self, script_fd: int, later_output: str) -> None:
        """With the redirection to the pipe that replaced the shell's first one."""
        # The variable exists when the loop itself ends. A subshell is not the session.
        # The first NUL ends the notes, the second one the DEBUG trap, which would slow down the rest.
        start = (
            f"{{ [[ -v {VARIABLE} || $BASHPID != $$ ]]||"
            f"{{ [[ ! -e /dev/fd/{script_fd} ]]||\\exec {TEXT_FD}>&{script_fd};{{ \\builtin printf '%s ' stages"
        )
        end = (
            ";\\builtin printf '\\n\\0';\\builtin trap -p DEBUG;\\builtin trap - DEBUG;\\builtin printf '\\0';"
            f"{DUMP}}} >&{TEXT_FD};}};}} 2>/dev/null"
        )
        # One command, because each command has a status and stage codes of its own.
        save = f'\\builtin eval {quoted(start)} "${{PIPESTATUS[@]}}" {quoted(end)}'
        self._trap = f"{{ {save};}} 2>/dev/null"
        # The script's own action finds the status in `$?`; neither `set -e` nor an ERR trap reacts to our commands.
        self._around_action = (
            f"case $? in 0){save} ';\\builtin :;\\builtin eval' ",
            f""";;*){save} ';(\\builtin exit' "$?" ')||\\builtin eval' """,
            ";;esac",
        )
        # Bash undoes the script's redirections before it runs the trap, and the shell's first pipe may be a job's.
        self._first_output, self._later_output = (f" {quoted(text)}" for text in ("", later_output))

    def trap(self, *, traced: bool) -> str:
        """The action of the trap, without an action of the script."""
        return f"{self._trap} {UNTRACED}" if traced else self._trap

    def rewritten(self, script: str, traps: Sequence[ExitTrap], *, switched: bool) -> str:
        """The script, whose own EXIT traps save the state before they run."""
        for trap in reversed(traps):
            changed = f"trap -- {self._with_action(trap, switched=switched)} EXIT"
            if trap.others:
                action = "-" if trap.action is None else trap.action
                changed = f"{{ {changed}&&trap -- {action} {trap.others};}}"
            script = script[: trap.start] + changed + script[trap.end :]
        return script

    def _with_action(self, trap: ExitTrap, *, switched: bool) -> str:
        """The action that saves the state and then runs the script's own one, as a word of bash."""
        if trap.action is None:
            return quoted(self._trap)
        if trap.value is not None:
            word = quoted(quoted(quoted(trap.value)))
        else:
            word = f'"$(\\builtin printf %q "$(\\builtin printf %q {trap.action})")"'
        zero, other, end = map(quoted, self._around_action)
        run = f"{word}{quoted(self._later_output if switched else self._first_output)}"
        return f"{zero}{run}{other}{run}{end}"

    def own_action(self, action: str) -> str:
        """The script's own part of an EXIT trap's action; empty if there is none."""
        if action.removesuffix(f" {UNTRACED}") == self._trap:
            return ""
        zero, other, end = self._around_action
        run = action[len(zero) : (len(zero) + len(action) - len(other) - len(end)) // 2]
        if action != f"{zero}{run}{other}{run}{end}":
            return action
        output = self._later_output if run.endswith(self._later_output) else self._first_output
        return f"\\builtin eval '\\builtin eval' {run.removesuffix(output)}"
