"""The texts that a session's bash runs: the loop that waits for turns, and the line around each script. Pure.

The loop is unrolled instead of written as `while`: in a loop a script's own `break` would end ours. The whole text is
one line, so a script's line numbers are those of `bash -c`. What the shell reads and writes for us is on descriptors
that no program gets: bash saves what a redirection replaces under another number, closed on exec, and the loop runs in
such a redirection and uses these.
"""

from __future__ import annotations

from collections.abc import Mapping

from nacre.command import SIDE_FD
from nacre.warden import spare
from nacre.warden.launch import quoted

# Where bash saves what it was started with: above the number that the redirection copies from, lowest first.
GO_FD, SCRIPT_FD, OUTPUT_FD = SIDE_FD + 1, SIDE_FD + 2, SIDE_FD + 3
_LOW_OUTPUT_FD = 113
_SAVED = (
    f"{spare.GO_FD}<&{SIDE_FD} {spare.TEXT_FD}<&{SIDE_FD} {_LOW_OUTPUT_FD}>&1 {_LOW_OUTPUT_FD}>&{SIDE_FD} "
    f"{spare.GO_FD}<&- {spare.TEXT_FD}<&- {_LOW_OUTPUT_FD}>&-"
)

# How often the shell can be asked for something before it is replaced. In three rounds, because bash holds what it
# reads of each: every page of its memory is a cost for each program that it forks.
_INNER, _MIDDLE, _OUTER = 16, 16, 32
MOST_TURNS = _INNER * _MIDDLE * _OUTER - 1

# Of the one variable that a script could see. The host fills 0 (what to run) to 2; the rest is the loop's.
_NUDGE, _STATUS, _LOOP, _STAGES, _FUNCTIONS, _BEFORE, _ROUND, _OUTPUT = 20, 21, 22, 23, 24, 25, 26, 27

# The end of the socket is the end of the shell, with the status of its last turn; a note tells the stage codes.
_TURN = (
    f'builtin read -r -u {GO_FD} "__nacre[{_NUDGE}]"||{{ '
    f'builtin printf "stages %s\\n" "${{__nacre[{_STATUS}]#* }}" >>/dev/fd/{SCRIPT_FD};'
    f'builtin exit "${{__nacre[{_STATUS}]%% *}}";}};'
    f'builtin mapfile -d "" -t -O 0 -u {SCRIPT_FD} __nacre;builtin eval "${{__nacre[0]}}";'
)
_AGAIN = f'builtin eval "${{__nacre[{_LOOP}]}}";'
_ANEW = f'builtin eval "${{__nacre[{_ROUND}]}}";'
# The loop writes nowhere. An `exit` in a script undoes the redirections before it runs an EXIT trap, which is heard.
DRIVER = (
    f"__nacre=([{_NUDGE}]= [{_STATUS}]=0 [{_STAGES}]= [{_LOOP}]='{_TURN * _INNER}' [{_ROUND}]='{_AGAIN * _MIDDLE}');"
    f"builtin eval '{_ANEW * _OUTER}' {_SAVED} >/dev/null 2>/dev/null"
)

# Where the run-time guard says what it has refused: after the script, in its file.
_NOTES_FD = 114
_CLOSE_SIDE = f"{SIDE_FD}>&-"


def _open(output: int) -> str:
    """Where a script writes. A pipe that came later than the loop is not closed on exec, so it is closed here."""
    return f">&{output} 2>&1" if output == OUTPUT_FD else f">&{output} 2>&1 {output}>&-"


# In the script's own last line, because after the eval the codes are the eval's. The group keeps it out of a trace.
STAGES = f'\n{{ __nacre[{_STAGES}]="$? ${{PIPESTATUS[@]}}"; }} 2>/dev/null'
# The functions that its prologue may define; those of the user with the same names come back afterwards.
_GUARDED = (
    "rm /bin/rm /usr/bin/rm command sudo doas env nice ionice nohup timeout stdbuf setsid busybox flock chrt taskset "
    "xargs find __nacre_critical __nacre_rm_allowed __nacre_checked __nacre_feeding"
)


# What a frame has in the status's place when the directory of a turn could not be entered.
NO_DIRECTORY = "cwd"
# … when the pipe of a switch could not be opened …
NO_PIPE = "pipe"
# … and in the place of `$!` when that and the directory are what they were.
SAME = "same"
_SCRIPT = 'builtin eval "${__nacre[1]}"'
_LAST = '"${!-}"'
_ENDED = f'"${{__nacre[{_STATUS}]}}" {_LAST}'
_NOTHING = '""'
_WHO = '"$$ $PPID"'


def _frame(nonce: str, *fields: str) -> str:
    """Say what a turn came to: its status, `$!`, the directory, the EXIT trap."""
    begun = f'builtin printf "%s\\0" {nonce} {" ".join(fields)}'
    ended = f'builtin printf "\\0{nonce}\\0"'
    return f"{{ {begun};builtin pwd;builtin trap -p EXIT;{ended};}} >&{GO_FD}"


def _brief_frame(nonce: str) -> str:
    """The same for a script that can have changed nothing but the status, in one write."""
    return f'builtin printf "{nonce}\\0%s\\0{SAME}\\0\\0{nonce}\\0" "${{__nacre[{_STATUS}]}}" >&{GO_FD}'


def turn(
    nonce: str,
    *,
    env: Mapping[str, str] | None = None,
    enter: str | None = None,
    back: str | None = None,
    guarded: bool = False,
    stages: bool = False,
    side: bool = False,
    loud: bool = True,
    output: int = OUTPUT_FD,
) -> str:
    """The line that runs a script and tells its end.

    Args:
        env: variables for this script alone; an assignment before `eval` is undone by bash itself.
        enter: the directory to go to first.
        back: the directory to return to afterwards.
        guarded: whether a prologue comes along, to be sourced before and taken back after.
        stages: whether the script ends with `STAGES`.
        side: whether the script writes to the third stream.
        loud: whether the script may have changed anything that stays.
        output: the descriptor of the pipe that the script writes to.
    """
    if output == OUTPUT_FD and not (loud or stages or guarded or side or env or enter):
        return _QUIET_TURN.replace(_NONCE, nonce)
    before, after = "", ""
    if stages:
        before += f"__nacre[{_STAGES}]=;"
    if guarded:
        before += (
            f"__nacre[{_FUNCTIONS}]=$(builtin declare -f {_GUARDED})||:;"
            f'__nacre_notes={_NOTES_FD};builtin eval "${{__nacre[2]}}";'
        )
        after += (
            f"builtin unset -f {_GUARDED}||:;builtin unset -v __nacre_notes __nacre_start __nacre_path;"
            f'builtin eval "${{__nacre[{_FUNCTIONS}]}}";'
        )
    if back is not None:
        after += f"builtin cd -- {quoted(back)}||:;OLDPWD=${{__nacre[{_BEFORE}]}};"
    variables = "".join(f"{name}={quoted(value)} " for name, value in env.items()) if env else ""
    notes = f" {_NOTES_FD}>>/dev/fd/{SCRIPT_FD}" if guarded else ""
    # `builtin eval` alone would not hand the variables on to programs.
    script = f"{variables}{_SCRIPT.replace('builtin', 'builtin command', 1)}" if variables else _SCRIPT
    run = f"{script} {_open(output)}{notes}{'' if side else f' {_CLOSE_SIDE}'}"
    status = f"${{__nacre[{_STAGES}]:-$?}}" if stages else "$?"
    if loud:
        # It may have replaced the standard input.
        after += "builtin exec </dev/null;"
    told = _frame(nonce, _ENDED) if loud else _brief_frame(nonce)
    text = f"{before}{run};__nacre[{_STATUS}]={status};{after}{told}"
    if enter is not None:
        missing = _frame(nonce, NO_DIRECTORY, _NOTHING)
        text = f"__nacre[{_BEFORE}]=${{OLDPWD-}};if builtin cd -- {quoted(enter)};then {text};else {missing};fi"
    return text


# Most turns are nothing but this: it is made once.
_NONCE = "@"
_QUIET_TURN = f"{_SCRIPT} {_open(OUTPUT_FD)} {_CLOSE_SIDE};__nacre[{_STATUS}]=$?;{_brief_frame(_NONCE)}"


def exit_trap(nonce: str, code: int, output: int = OUTPUT_FD) -> str:
    """Run the script's EXIT trap, whose definition is handed over in the script's place, as at the end of `bash -c`."""
    return (
        'builtin trap - EXIT;builtin eval "__nacre_trap=(${__nacre[1]})";'
        f'builtin eval "builtin unset -v __nacre_trap;(builtin exit {code});${{__nacre_trap[2]}}" {_open(output)} '
        f"{_CLOSE_SIDE};"
        f"{_frame(nonce, _ENDED)}"
    )


def switch(nonce: str, fifo: str, output: int) -> str:
    """Open another pipe for the output of later scripts, in the place of the last one; its number is the status."""
    target, number = f"{{__nacre[{_OUTPUT}]}}", f'"${{__nacre[{_OUTPUT}]}}"'
    close = "" if output == OUTPUT_FD else f"command exec {output}>&-;"
    # Both ways, so that the opening waits for nobody. Only a pipe: an open would make a file where there is none.
    opened = f"[[ -p {quoted(fifo)} ]]&&builtin exec {target}<>{quoted(fifo)}"
    return f"if {opened};then {close}{_frame(nonce, number, _LAST)};else {_frame(nonce, NO_PIPE, _NOTHING)};fi"


def hello(nonce: str) -> str:
    """Run what restores a state, handed over in the script's place, and say who we are."""
    return f"{_SCRIPT};{_frame(nonce, '0', _WHO)}"


def dump(nonce: str, text: str) -> str:
    """Write the state into the file that the script came from, then say so."""
    return f"{{ {text}}} >|/dev/fd/{SCRIPT_FD};" + _frame(nonce, "0", _NOTHING)


def leave(nonce: str, text: str, code: int) -> str:
    """The same, and exit with the status of the turn before."""
    return f"{dump(nonce, text)};builtin exit {code}"
