"""The texts that a session's bash runs: the loop that waits for turns, and the line around each script. Pure.

The loop is unrolled instead of written as `while`: in a loop a script's own `break` would end ours. The whole text is
one line, so a script's line numbers are those of `bash -c`. What the shell reads and writes for us is on descriptors
that no program gets: bash saves what a redirection replaces under another number, closed on exec, and the loop runs in
such a redirection and uses these.

A script finds nothing of this: the one variable, whose name it cannot guess, is unset before it runs, and every text
that comes from outside is a quoted word. A backslash before a name keeps an alias of that name away.
"""

from __future__ import annotations

import functools
import resource
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nacre.command import SIDE_FD
from nacre.sessions.checkpoint import DUMP, VARIABLE
from nacre.sessions.exit_traps import ExitTrap
from nacre.warden import protocol
from nacre.warden.launch import quoted, with_notes

# How often the shell can be asked for something before it is replaced. In three rounds, because bash holds what it
# reads of each: every page of its memory is a cost for each program that it forks. The host sends the two inner ones.
_ROUND, _OUTER = 16, 32
MOST_TURNS = _ROUND * _ROUND * _OUTER - 1

# Descriptors that the loop needs, counted from the first one; above all that a script would think of.
_ROOM = 24
_USUAL_LIMIT = 1024
_LOW_OUTPUT_FD = 113

# Keeps a group out of a trace that goes to BASH_XTRACEFD: bash stops writing there while the descriptor is closed. The
# here-string gives the variable a value if it has none, because the redirection fails without one.
_UNTRACED = '<<<"${BASH_XTRACEFD:=2}" {BASH_XTRACEFD}>&-'
# The functions that its prologue may define; those of the user with the same names come back afterwards.
GUARDED = (
    "rm /bin/rm /usr/bin/rm command sudo doas env nice ionice nohup timeout stdbuf setsid busybox flock chrt taskset "
    "xargs find __nacre_critical __nacre_rm_allowed __nacre_checked __nacre_feeding"
)

# What a frame has in the status's place when the directory of a turn could not be entered; why is in the next field.
NO_DIRECTORY = "cwd"
# … when the pipe of a switch could not be opened …
NO_PIPE = "pipe"
# … and before the status when the shell could write only from a child: it cannot go on.
SPENT = "spent"
# … and in the place of `$!` when that and the directory are what they were.
SAME = "same"
_LINE = "\n"
# What a child does to be able to write: a script may have switched it off, or put a function in its place.
_REPAIRED = (
    "\\unset -f builtin;\\enable builtin;for _ in printf pwd umask shopt set declare alias trap;do \\enable $_;done;"
)


class Told(NamedTuple):
    """What one turn is: the line around a script is made of it."""

    env: Mapping[str, str] | None = None
    """Variables for this script alone; an assignment before `eval` is undone by bash itself."""
    enter: str | None = None
    """The directory to go to first."""
    back: str | None = None
    """The directory to return to afterwards …"""
    before: str = ""
    """… and the one before that, for `cd -`, as a word of bash."""
    prologue: str = ""
    """The run-time guard: a text to be evaluated before, and taken back after."""
    stages: bool = False
    """Whether the script ends with its stage line."""
    side: bool = False
    """Whether the script writes to the third stream."""
    loud: bool = True
    """Whether the script may have changed anything that stays."""
    last: int = 0
    """The status of the command before, for its `$?`."""
    debug: str = ""
    """The DEBUG trap that holds for scripts; it is not set while the loop runs."""
    watched: bool = False
    """Whether an `exit` in the script is to write the state down."""
    traced: bool = False
    """Whether a trace of the script may go to a descriptor of its own (BASH_XTRACEFD)."""
    switched: bool = False
    """Whether it writes to the pipe of a `switch`."""


class Bootstrap:
    """The texts for one shell, by the numbers of its descriptors."""

    def __init__(self, base: int) -> None:
        """With the number that the third stream is handed over on; those from there on are the loop's."""
        self.side = base
        # Where bash saves what it was started with: above the number that the redirection copies from, lowest first.
        go, script, output, side = range(base + 1, base + 5)
        null = base + 9
        self._go, self._script, self._output, self._side = go, script, output, side
        self._notes, self._later = base + 12, base + 13
        # The end of the socket is the end of the shell, with the status of its last turn; a note tells the stage codes.
        self._next = (
            f"\\builtin mapfile -n 1 -O 3 -u {go} {VARIABLE};[[ ${{{VARIABLE}[3]-}} ]]||{{ "
            f'\\builtin printf "stages %s\\n" "${{{VARIABLE}[1]#* }}" >&{script};'
            f'\\builtin exit "${{{VARIABLE}[1]%% *}}";}};'
            f'\\builtin mapfile -d "" -t -u {script} {VARIABLE};\\builtin eval "${{{VARIABLE}[0]}}";'
        )
        self._round, self._first_round = (
            f'\\builtin eval "${{{VARIABLE}[{at}]}}";{self._next * (_ROUND - 1)}' for at in (1, 2)
        )
        saved = (
            f"{protocol.GO_FD}<&{base} {protocol.TEXT_FD}<&{base} {_LOW_OUTPUT_FD}>&1 {_LOW_OUTPUT_FD}>&{base} "
            f"{base}>&{go} {null}>/dev/null >&{null} 2>&{null}"
        )
        # Inside, because bash would save under a low number what a redirection of the loop closes.
        closed = f"\\exec {protocol.GO_FD}<&- {protocol.TEXT_FD}<&- {_LOW_OUTPUT_FD}>&- {base}>&- {null}>&-;"
        # The loop writes nowhere. An `exit` in a script, but not in a function of it, undoes the redirections before it
        # runs an EXIT trap, which is heard.
        self.driver = (
            f"\\builtin unset -v BASH_EXECUTION_STRING;{VARIABLE}=(0 0);"
            f"\\builtin eval '{closed}{self._next * _OUTER}' {saved}"
        )
        # Not when the loop itself ends: then the variable is there. Not in a subshell, which is not the session.
        # The first NUL ends the notes, the second the DEBUG trap, which would slow down the rest.
        begun = (
            f"{{ [[ -v {VARIABLE} || $BASHPID != $$ ]]||"
            f"{{ [[ ! -e /dev/fd/{script} ]]||\\exec {protocol.TEXT_FD}>&{script};{{ \\builtin printf '%s ' stages"
        )
        ended = (
            ";\\builtin printf '\\n\\0';\\builtin trap -p DEBUG;\\builtin trap - DEBUG;\\builtin printf '\\0';"
            f"{DUMP}}} >&{protocol.TEXT_FD};}};}} 2>/dev/null"
        )
        # In one command, because each has a status and stage codes of its own.
        watch = f'\\builtin eval {quoted(begun)} "${{PIPESTATUS[@]}}" {quoted(ended)}'
        self._exit_watch = f"{{ {watch};}} 2>/dev/null"
        # A trap of the script finds the status in `$?`, and neither `set -e` nor an ERR trap is concerned.
        self._wrapped = (
            f"case $? in 0){watch} ';\\builtin :;\\builtin eval' ",
            f""";;*){watch} ';(\\builtin exit' "$?" ')||\\builtin eval' """,
            ";;esac",
        )
        self._elsewhere = tuple(f" {quoted(text)}" for text in ("", self._open(switched=True)))
        self._quiet_turn = self._turn(_NONCE, _SCRIPT, Told(loud=False))

    def _open(self, switched: bool) -> str:
        """Where a script writes. A pipe that came later than the loop is not closed on exec, so it is closed here."""
        later = self._later
        return f">&{later} 2>&{later} {later}>&-" if switched else f">&{self._output} 2>&{self._output}"

    def around(self, turns: int) -> tuple[str, ...]:
        """What stands before the text of this turn so that the loop goes on after it: the rounds that it begins."""
        if turns % _ROUND:
            return ()
        return (self._round,) if turns % (_ROUND * _ROUND) else (self._round, self._first_round)

    def _frame(self, nonce: str, status: str) -> str:
        """Say what a turn came to: its status, `$!`, the traps that are ours to run, the directory."""
        begun = f'\\builtin printf "%s\\0" {nonce} {status} "${{!-}}"'
        ended = f'\\builtin printf "\\0{nonce}\\0"'
        return (
            f"{begun};\\builtin trap -p EXIT DEBUG;\\builtin trap - DEBUG;\\builtin printf '\\0';\\builtin pwd;{ended};"
        )

    def _told(self, nonce: str) -> str:
        """The frame, also where no descriptor can be saved any more: a child need not; it brings the state along."""
        frame, spent = (self._frame(nonce, f'"{word}${{{VARIABLE}[1]}}"') for word in ("", f"{SPENT} "))
        return (
            # A script may have closed what its output goes to: what bash says of that is not of the script.
            f'{{ {frame}\\builtin printf -v "{VARIABLE}[3]" 1;}} 2>&- >&{self._go};'
            f"[[ ${{{VARIABLE}[3]-}} ]]||{{ ({_REPAIRED}\\builtin trap - EXIT DEBUG;{DUMP}) >&{self._script};"
            f"({_REPAIRED}{spent}) >&{self._go};}}"
        )

    def _briefly_told(self, nonce: str) -> str:
        """The same for a script that can have changed nothing but the status, in one write."""
        frame, spent = (
            f'\\builtin printf "{nonce}\\0{word}%s\\0{SAME}\\0\\0{nonce}\\0" "${{{VARIABLE}[1]}}"'
            for word in ("", f"{SPENT} ")
        )
        return f"{frame} >&{self._go}||({_REPAIRED}{spent}) >&{self._go}"

    def turn(self, nonce: str, script: str, told: Told) -> str:
        """The line that runs a script and tells its end."""
        if told == _QUIET:
            return self._quiet_turn.replace(_NONCE, nonce).replace(_SCRIPT, quoted(script))
        return self._turn(nonce, quoted(script), told)

    def _turn(self, nonce: str, script: str, told: Told) -> str:
        before, after = f"\\builtin unset -v {VARIABLE};", ""
        if told.prologue:
            ours = f"[[ /dev/fd/{self._notes} -ef /dev/fd/{self._script} ]]"
            before += f"\\builtin eval {quoted(with_notes(told.prologue, self._notes, ours))};"
        if told.watched:
            watch = f"{self._exit_watch} {_UNTRACED}" if told.traced else self._exit_watch
            before += f"\\builtin trap {quoted(watch)} EXIT;"
        if told.debug:
            before += f"\\builtin trap {quoted(told.debug)} DEBUG;"
        # `builtin eval` alone would not hand the variables on to programs.
        variables = "".join(f"{name}={quoted(value)} " for name, value in told.env.items()) if told.env else ""
        run = f"{variables}\\builtin command eval {script}" if variables else f"\\builtin eval {script}"
        if told.side:
            # Through the standard output: what is copied from a descriptor that is closed on exec is so too.
            run += f" >&{self._side} {SIDE_FD}>&1"
        run += f" {self._open(told.switched)}"
        if told.traced:
            # Gives the trace its descriptor again, in a word, because a command would change `$?`.
            run += " 2>&$((${BASH_XTRACEFD:+BASH_XTRACEFD=$BASH_XTRACEFD,}1))"
        if told.prologue:
            run += f" {self._notes}>&{self._script}"
        status = f'"${{{VARIABLE}[0]:-$?}}"' if told.stages else '"$?"'
        if told.back is not None:
            after += f"\\builtin cd -- {quoted(told.back)}||:;OLDPWD={told.before};"
        if told.loud:
            # It may have replaced the standard input. Behind the word `builtin` it would not last.
            after += "\\exec </dev/null;"
        end = self._told(nonce) if told.loud else self._briefly_told(nonce)
        text = f"{before}{_previous(told.last)}{run};"
        lost = "||".join(f"[[ ! -e /dev/fd/{fd} ]]" for fd in (self._go, self._script, self._output))
        if told.traced:
            text += (
                f"{{ {VARIABLE}=(0 {status});}} {_UNTRACED};"
                "[[ $BASH_XTRACEFD != 2 ]]||\\builtin unset -v BASH_XTRACEFD;"
            )
        else:
            text += f"{VARIABLE}=(0 {status});"
        if told.loud:
            # A script may have closed every descriptor that it found: the shell cannot go on.
            code = f"${{{VARIABLE}[1]%% *}}"
            text += f'if {lost};then \\exec 2>&-;\\builtin exit "{code}";fi;'
        if told.prologue:
            # What the user has of these names is held by the text of this command alone.
            text += f"\\builtin unset -f {GUARDED}||:;"
            own = f"$(\\builtin declare -f {GUARDED})"
            text = f'\\builtin eval {quoted(text)} "{own}" {quoted(_LINE + after + end)}'
        else:
            text += after + end
        if told.enter is None:
            return text
        # Why not is known in words alone.
        why = f"(LC_ALL=C \\builtin cd -- {quoted(told.enter)} 2>&1)"
        missing = f'\\builtin printf "{nonce}\\0{NO_DIRECTORY}\\0";{why};\\builtin printf "\\0\\0\\0{nonce}\\0"'
        return f"if \\builtin cd -- {quoted(told.enter)};then {text};else {{ {missing};}} >&{self._go};fi"

    def with_watch(self, script: str, traps: Sequence[ExitTrap], *, switched: bool) -> str:
        """The script whose own EXIT traps write the state down before they run."""
        for one in reversed(traps):
            if one.action is None:
                text = quoted(self._exit_watch)
            else:
                if one.value is not None:
                    word = quoted(quoted(quoted(one.value)))
                else:
                    word = f'"$(\\builtin printf %q "$(\\builtin printf %q {one.action})")"'
                zero, other, end = map(quoted, self._wrapped)
                # The redirections of the script are undone by then, and the shell's first pipe may be a job's.
                run = f"{word}{quoted(self._elsewhere[switched])}"
                text = f"{zero}{run}{other}{run}{end}"
            changed = f"trap -- {text} EXIT"
            if one.others:
                action = "-" if one.action is None else one.action
                changed = f"{{ {changed}&&trap -- {action} {one.others};}}"
            script = script[: one.start] + changed + script[one.end :]
        return script

    def own_action(self, action: str) -> str:
        """What the script itself has asked for with an EXIT trap; empty when that is nothing."""
        if action.removesuffix(f" {_UNTRACED}") == self._exit_watch:
            return ""
        zero, other, end = self._wrapped
        run = action[len(zero) : (len(zero) + len(action) - len(other) - len(end)) // 2]
        if action != f"{zero}{run}{other}{run}{end}":
            return action
        elsewhere = next((text for text in reversed(self._elsewhere) if run.endswith(text)), "")
        return f"\\builtin eval '\\builtin eval' {run.removesuffix(elsewhere)}"

    def exit_trap(self, nonce: str, action: str, code: int, switched: bool) -> str:
        """Run the EXIT trap that a script has left, as at the end of `bash -c`."""
        return (
            f"\\builtin unset -v {VARIABLE};\\builtin trap - EXIT;"
            f"{_previous(code)}\\builtin eval {quoted(action)} {self._open(switched)};"
            f"{VARIABLE}=(0 {code});{self._told(nonce)}"
        )

    def switch(self, nonce: str, fifo: str) -> str:
        """Open another pipe for the output of later scripts, in the place of the last one."""
        # Both ways, so that the opening waits for nobody. Only a pipe: an open would make a file where there is none.
        opened = f"[[ -p {quoted(fifo)} ]]&&\\command exec {self._later}<>{quoted(fifo)}"
        frames = (
            f'\\builtin printf "%s\\0" {nonce} {status} "${{!-}}" "" "" {nonce} >&{self._go}'
            for status in ("0", NO_PIPE)
        )
        done, failed = frames
        return f"{VARIABLE}=(0 0);if {opened};then {done};else {failed};fi"

    def hello(self, nonce: str, texts: int) -> str:
        """Evaluate the texts that restore a state, handed over behind this one, and say who we are."""
        first = len(self.around(0)) + 1
        restore = "".join(f'\\builtin eval "${{{VARIABLE}[{first + at}]}}";' for at in range(texts))
        frame = f'\\builtin printf "%s\\0" {nonce} 0 "$$ $PPID" "" "" {nonce}'
        return f"{restore}{VARIABLE}=(0 0);{frame} >&{self._go}"

    def dump(self, nonce: str) -> str:
        """Write the state into the file that the script came from, behind it, then say so."""
        return f"{VARIABLE}=(0 0);\\builtin trap - EXIT;{{ {DUMP}}} 2>&- >&{self._script};{self._briefly_told(nonce)}"

    def leave(self, nonce: str, code: int) -> str:
        """The same, and exit with the status of the turn before."""
        return f"{self.dump(nonce)};\\builtin exit {code}"


def stage_line(*, traced: bool) -> str:
    """A last line for a script that takes its stage codes: after the `eval` they are those of the `eval`."""
    hidden = f"2>&- {_UNTRACED}" if traced else "2>&-"
    return f'\n{{ {VARIABLE}="$? ${{PIPESTATUS[@]}}"; }} {hidden}'


def _previous(code: int) -> str:
    """What gives a script the `$?` of the command before, and a `$_` that is not ours."""
    # A list, so that neither `set -e` nor an ERR trap is concerned.
    failed = "" if code == 0 else "[[ '' ]]||" if code == 1 else f"(\\builtin exit {code})||"
    return f"\\builtin : bash;{failed}"


# Most turns are nothing but this: it is made once.
_NONCE, _SCRIPT = "@nonce@", "@script@"
_QUIET = Told(loud=False)


def bootstrap() -> Bootstrap:
    """The texts for a shell that is started now."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    usable = _USUAL_LIMIT if limit == resource.RLIM_INFINITY else min(limit, _USUAL_LIMIT)
    return _made(max(usable - _ROOM, SIDE_FD))


_made = functools.lru_cache(maxsize=4)(Bootstrap)
