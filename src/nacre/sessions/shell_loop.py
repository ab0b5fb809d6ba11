"""The texts that a session's bash runs: the loop that waits for turns, and the line around each script. Pure.

The loop is unrolled instead of written as `while`, because a script's own `break` would end a loop. The whole text is
one line, so a script's line numbers are those of `bash -c`. The loop runs inside a redirection of its control
descriptors and uses the copies that bash saves for the undo: these are closed on exec, so no program gets them.

A script finds nothing of this: the one variable, whose name it cannot guess, is unset before it runs, and every text
from outside is a quoted word. A backslash before a name keeps an alias of that name away.
"""

from __future__ import annotations

import functools
import os
import resource

from nacre.command import SIDE_FD
from nacre.sessions.checkpoint import DUMP, VARIABLE
from nacre.sessions.exit_saver import UNTRACED, ExitSaver
from nacre.sessions.turn_spec import TurnSpec
from nacre.warden.launch import quoted, with_notes
from nacre.warden.protocol import GO_FD, TEXT_FD

# Turns before a shell is replaced. The loop is nested in three rounds, because bash holds the text of each, and every
# page of its memory is a cost for each program that it forks. The host sends the two inner rounds.
_ROUND, _OUTER = 16, 32
MOST_TURNS = _ROUND * _ROUND * _OUTER - 1

# The loop's descriptors are the highest below the usual limit, where scripts do not expect any.
_ROOM = 24
_USUAL_LIMIT = 1024
_LOW_OUTPUT_FD = 113

# The functions that the run-time guard may define; the user's functions of these names come back after the turn.
GUARDED = (
    "rm /bin/rm /usr/bin/rm command sudo doas env nice ionice nohup timeout stdbuf setsid busybox flock chrt taskset "
    "xargs find __nacre_critical __nacre_rm_allowed __nacre_checked __nacre_feeding"
)

# The status of a report if the turn's directory could not be entered; the next field says why.
NO_DIRECTORY = "cwd"
# The status if the pipe of a `switch` could not be opened.
NO_PIPE = "pipe"
# Stands before the status if the shell could report only from a child: it cannot go on.
SPENT = "spent"
# Stands for `$!` if neither that nor the directory has changed.
SAME = "same"
_LINE = "\n"
# The beginning of the loop's text, which tells it from other texts.
_DRIVER_CHARACTERS = 32
# Makes a child able to report: a script may have disabled a builtin, or defined a function of its name.
_REPAIRED = (
    "\\unset -f builtin;\\enable builtin;for _ in printf pwd umask shopt set declare alias trap kill;"
    "do \\enable $_;done;"
)
# Ends a shell that has reported from a child: at an `exit` it would say that it cannot undo its redirections.
_KILLED = f"{_REPAIRED}\\builtin kill -9 $$;"
_NONCE, _SCRIPT = "@nonce@", "@script@"
_STATUS = f"${{{VARIABLE}[1]}}"
_CODE = f"${{{VARIABLE}[1]%% *}}"


class ShellLoop:
    """The texts for one shell, by the numbers of its descriptors. It has a method for each text."""

    def __init__(self, base: int) -> None:
        """With the number on which the shell gets the third stream; the loop uses the numbers above it."""
        self.side_fd = base
        # Bash saves a replaced descriptor under the lowest free number above the one that it copies from.
        go, script, output, side = range(base + 1, base + 5)
        null = base + 9
        self._go, self._script, self._output, self._side = go, script, output, side
        # The saved standard error of the shell below the loop.
        self._errors = null + 2
        self._notes, self._later = base + 12, base + 13
        self._exit_saver = ExitSaver(script, self._outputs(switched=True))
        # At the end of the socket the shell exits with the status of its last turn, and notes the stage codes.
        # mapfile and not read: `read` obeys TMOUT. Element 3 is the report's.
        wait = (
            f"\\builtin mapfile -n 1 -O 4 -u {go} {VARIABLE};[[ ${{{VARIABLE}[4]-}} ]]||{{ "
            f'\\builtin printf "stages %s\\n" "${{{VARIABLE}[1]#* }}" >&{script};\\builtin exit "{_CODE}";}};'
            f'\\builtin mapfile -d "" -t -u {script} {VARIABLE};\\builtin eval "${{{VARIABLE}[0]}}";'
        )
        self._round, self._first_round = (
            f'\\builtin eval "${{{VARIABLE}[{at}]}}";{wait * (_ROUND - 1)}' for at in (1, 2)
        )
        saved = (
            f"{GO_FD}<&{base} {TEXT_FD}<&{base} {_LOW_OUTPUT_FD}>&1 {_LOW_OUTPUT_FD}>&{base} "
            f"{base}>&{go} {null}>/dev/null >&{null} 2>&{null}"
        )
        # Inside the eval: bash would save what a redirection of the loop closes under a low number.
        closed = f"\\exec {GO_FD}<&- {TEXT_FD}<&- {_LOW_OUTPUT_FD}>&- {base}>&- {null}>&-;"
        # The loop writes to /dev/null. An `exit` of a script undoes the redirections before it runs an EXIT trap, so
        # the trap writes to the shell's pipe.
        self.driver = (
            f"\\builtin unset -v BASH_EXECUTION_STRING;{VARIABLE}=(0 0);"
            f"\\builtin eval '{closed}{wait * _OUTER}' {saved}"
        )
        # Most turns are this text, made once.
        self._plain_turn = self._turn(TurnSpec(_SCRIPT, keeps_state=True), switched=False, nonce=_NONCE)

    def _outputs(self, *, switched: bool) -> str:
        """The redirection of a script's output; programs do not get the descriptor of a later pipe."""
        later = self._later
        return f">&{later} 2>&{later} {later}>&-" if switched else f">&{self._output} 2>&{self._output}"

    def rounds(self, turns: int) -> tuple[str, ...]:
        """The rounds of the loop that begin with this turn; their texts go before the turn's."""
        if turns % _ROUND:
            return ()
        return (self._round,) if turns % (_ROUND * _ROUND) else (self._round, self._first_round)

    def encoded(self, turns: int, *texts: str) -> bytes:
        """The texts of the turn after so many, as the shell reads them."""
        if turns % _ROUND == 0:
            texts = (*self.rounds(turns), *texts)
        return os.fsencode("\0".join(texts)) + b"\0"

    def _report(self, nonce: str) -> str:
        """Report the status, `$!`, the traps that the host runs or keeps, and the directory.

        A shell that cannot save a descriptor any more reports from a child, with its state.
        """
        full, spent = (
            f'\\builtin printf "%s\\0" {nonce} "{word}{_STATUS}" "${{!-}}";\\builtin trap -p EXIT DEBUG;'
            f"\\builtin trap - DEBUG;\\builtin printf '\\0';\\builtin pwd;\\builtin printf \"\\0{nonce}\\0\";"
            for word in ("", f"{SPENT} ")
        )
        return (
            # A script may have closed its output: bash's message about that is not the script's.
            f'{{ {full}\\builtin printf -v "{VARIABLE}[3]" 1;}} 2>&- >&{self._go};'
            f"[[ ${{{VARIABLE}[3]-}} ]]||{{ ({_REPAIRED}\\builtin trap - EXIT DEBUG;{DUMP}) >&{self._script};"
            f"({_REPAIRED}{spent}) >&{self._go};{_KILLED}}}"
        )

    def _brief_report(self, nonce: str) -> str:
        """Report only the status, in one write."""
        start, end = f'\\builtin printf "{nonce}\\0', f'%s\\0{SAME}\\0\\0{nonce}\\0" "{_STATUS}"'
        return f"{start}{end} >&{self._go}||{{ ({_REPAIRED}{start}{SPENT} {end}) >&{self._go};{_KILLED}}}"

    def turn(self, spec: TurnSpec, switched: bool, nonce: str) -> str:
        """The line that runs a script and reports its end; with `switched` it writes to the pipe of a `switch`."""
        if not switched and spec == TurnSpec(spec.script, keeps_state=True):
            return self._plain_turn.replace(_NONCE, nonce).replace(quoted(_SCRIPT), quoted(spec.script))
        return self._turn(spec, switched, nonce)

    def _turn(self, spec: TurnSpec, switched: bool, nonce: str) -> str:
        text = self._before(spec) + self._run(spec, switched=switched) + self._take_status(spec)
        after = ""
        if spec.back is not None:
            after += f"\\builtin cd -- {quoted(spec.back)}||:;OLDPWD={spec.back_before};"
        if spec.keeps_state:
            after += self._brief_report(nonce)
        else:
            # The script may have replaced the standard input. `builtin exec` would undo the redirection.
            after += f"\\exec </dev/null;{self._report(nonce)}"
        if spec.prologue:
            # The text of this one command holds the user's functions while the guard's replace them.
            text += f"\\builtin unset -f {GUARDED}||:;"
            own = f"$(\\builtin declare -f {GUARDED})"
            text = f'\\builtin eval {quoted(text)} "{own}" {quoted(_LINE + after)}'
        else:
            text += after
        if spec.enter is None:
            return text
        # Bash says in words why it could not enter a directory.
        why = f"(LC_ALL=C \\builtin cd -- {quoted(spec.enter)} 2>&1)"
        missing = f'\\builtin printf "{nonce}\\0{NO_DIRECTORY}\\0";{why};\\builtin printf "\\0\\0\\0{nonce}\\0"'
        return f"if \\builtin cd -- {quoted(spec.enter)};then {text};else {{ {missing};}} >&{self._go};fi"

    def _before(self, spec: TurnSpec) -> str:
        text = f"\\builtin unset -v {VARIABLE};"
        if spec.prologue:
            ours = f"[[ /dev/fd/{self._notes} -ef /dev/fd/{self._script} ]]"
            text += f"\\builtin eval {quoted(with_notes(spec.prologue, self._notes, ours))};"
        if spec.saves_exit:
            text += f"\\builtin trap {quoted(self._exit_saver.trap(traced=spec.traced))} EXIT;"
        if spec.debug:
            text += f"\\builtin trap {quoted(spec.debug)} DEBUG;"
        return text + _previous_status(spec.previous)

    def _run(self, spec: TurnSpec, *, switched: bool) -> str:
        script = self._exit_saver.rewritten(spec.script, spec.exit_traps, switched=switched)
        if spec.stages:
            # After the `eval` the stage codes are those of the `eval`. The group keeps the line out of a trace.
            hidden = f"2>&- {UNTRACED}" if spec.traced else "2>&-"
            script += f'\n{{ {VARIABLE}="$? ${{PIPESTATUS[@]}}"; }} {hidden}'
        run = f"eval {quoted(script)}"
        if spec.env:
            # Bash undoes the assignments. With `builtin eval` programs would not see them.
            variables = "".join(f"{name}={quoted(value)} " for name, value in spec.env.items())
            run = f"{variables}\\builtin command {run}"
        else:
            run = f"\\builtin {run}"
        if spec.side:
            # Through the standard output: a copy of a descriptor that is closed on exec is closed on exec too.
            run += f" >&{self._side} {SIDE_FD}>&1"
        run += f" {self._outputs(switched=switched)}"
        if spec.traced:
            # Gives the trace its descriptor again, in a word, because a command would change `$?`.
            run += " 2>&$((${BASH_XTRACEFD:+BASH_XTRACEFD=$BASH_XTRACEFD,}1))"
        if spec.prologue:
            run += f" {self._notes}>&{self._script}"
        return f"{run};"

    def _take_status(self, spec: TurnSpec) -> str:
        status = f'"${{{VARIABLE}[0]:-$?}}"' if spec.stages else '"$?"'
        text = f"{VARIABLE}=(0 {status});"
        if spec.traced:
            text = f"{{ {text}}} {UNTRACED};[[ $BASH_XTRACEFD != 2 ]]||\\builtin unset -v BASH_XTRACEFD;"
        if not spec.keeps_state:
            # A script that closed our descriptors costs the shell, which can report only its status.
            lost = "||".join(f"[[ ! -e /dev/fd/{fd} ]]" for fd in (self._go, self._script, self._output))
            text += f'if {lost};then \\exec 2>&-;\\builtin exit "{_CODE}";fi;'
        return text

    def own_exit_action(self, action: str) -> str:
        """The script's own part of the EXIT trap that it left; empty if there is none."""
        return self._exit_saver.own_action(action)

    def exit_trap(self, action: str, code: int, switched: bool, nonce: str) -> str:
        """Run the EXIT trap that a script has left, as at the end of `bash -c`."""
        return (
            f"\\builtin unset -v {VARIABLE};\\builtin trap - EXIT;"
            f"{_previous_status(code)}\\builtin eval {quoted(action)} {self._outputs(switched=switched)};"
            f"{VARIABLE}=(0 {code});{self._report(nonce)}"
        )

    def switch(self, fifo: str, nonce: str) -> str:
        """Open another pipe for the output of later scripts, in the place of the last one."""
        # For reading too, so that the opening does not wait. Only a pipe: an open would create a missing file.
        opened = f"[[ -p {quoted(fifo)} ]]&&\\command exec {self._later}<>{quoted(fifo)}"
        done, failed = (
            f'\\builtin printf "%s\\0" {nonce} {status} "${{!-}}" "" "" {nonce} >&{self._go}'
            for status in ("0", NO_PIPE)
        )
        return f"{VARIABLE}=(0 0);if {opened};then {done};else {failed};fi"

    def hello(self, texts: int, nonce: str) -> str:
        """Evaluate so many texts after this one, which restore a state, and report the pids of shell and runner."""
        first = len(self.rounds(0)) + 1
        restore = "".join(f'\\builtin eval "${{{VARIABLE}[{first + at}]}}";' for at in range(texts))
        report = f'\\builtin printf "%s\\0" {nonce} 0 "$$ $PPID" "" "" {nonce}'
        return f"{restore}{VARIABLE}=(0 0);{report} >&{self._go}"

    def dump(self, nonce: str) -> str:
        """Write the state into the script file, after the script, and report that."""
        return f"{VARIABLE}=(0 0);\\builtin trap - EXIT;{{ {DUMP}}} 2>&- >&{self._script};{self._brief_report(nonce)}"

    def leave(self, code: int, nonce: str) -> str:
        """Write the state, report that, and exit with the status of the turn before."""
        # Else bash says in the script's output that a limit of the script keeps it from undoing its redirections.
        return f"{self.dump(nonce)};\\exec {self._errors}>&-;\\builtin exit {code}"


def named_by_script(argv: tuple[str, ...], loop: ShellLoop, *, shell: str, script: str) -> tuple[str, ...]:
    """Name a background part of a script, which is a fork of the shell and shows the loop's text, by the script."""
    if not argv or not argv[-1].startswith(loop.driver[:_DRIVER_CHARACTERS]):
        return argv
    return os.path.basename(shell), "-c", script


def _previous_status(code: int) -> str:
    """Gives a script the `$?` of the command before, and a `$_` that is not ours."""
    # A list: neither `set -e` nor an ERR trap reacts to it.
    failed = "" if code == 0 else "[[ '' ]]||" if code == 1 else f"(\\builtin exit {code})||"
    return f"\\builtin : bash;{failed}"


_loop_at = functools.lru_cache(maxsize=4)(ShellLoop)


def shell_loop(limit: int | None = None) -> ShellLoop:
    """The texts for a shell that is started now; with the limit on open files where it runs, if not here."""
    if limit is None:
        limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    usable = _USUAL_LIMIT if limit == resource.RLIM_INFINITY else min(limit, _USUAL_LIMIT)
    return _loop_at(max(usable - _ROOM, SIDE_FD))
