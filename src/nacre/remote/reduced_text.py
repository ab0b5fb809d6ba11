"""The far side of a machine without Python: a program for its `sh`, one for each command. Sans-IO.

The machine's `sh` first runs a loader, which reads the program from its standard input: so neither the script nor the
environment is in any argument list. The program makes a session with `setsid`, gives the command the wire's own output
streams, and obeys lines from the wire until that ends; then it kills the session. Its own lines begin with a mark that
the command does not know. Names begin with `n_`, because variables of the command live in the same shell. A death by
signal is told from an exit code by the message that the sh prints; bash prints it outside its POSIX mode only.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from nacre.command import Command
from nacre.warden.launch import has_own_traps, quoted, with_notes

# A high number in bash, so that a script's own `exec 9>lock` does not meet it; a POSIX sh knows one digit.
_NOTES_FD = 120
# Those that a shell sets itself, or by which this one reads.
_NOT_SET = frozenset({"PPID", "UID", "EUID", "BASHOPTS", "SHELLOPTS", "BASH_VERSINFO", "IFS", "OPTIND", "PWD", "_"})


# What the loader says on the error stream; heard on the other one, both are one stream.
ERRORS = "errors"


def loader(word: str) -> str:
    """The text for `sh -c`: says the word on both streams, reads the program up to a line with the word, runs it."""
    return (
        f"printf '\\n%s {ERRORS}\\n' {word} >&2; printf '\\n%s sh\\n' {word}; LC_ALL=C; n_body=; n_line=; n_nl='\n'; "
        f'while IFS= read -r n_line && [ "$n_line" != {word} ]; do n_body="$n_body$n_line$n_nl"; done; '
        f'[ "$n_line" = {word} ] || exit 1; eval "$n_body"'
    )


def clean_loader(word: str) -> str:
    """The same in a sh that has none of the login's variables, which a command could read from /proc."""
    text = loader(word)
    return f'command -v env >/dev/null 2>&1 && exec env -i "PATH=$PATH" sh -c {quoted(text)}; {text}'


def sent(word: str, program: str) -> bytes:
    """A program as it goes to the loader."""
    return os.fsencode(f"{program}\n{word}\n")


PROBE = r"""
n_say() { printf '\001%s %s\n' "$n_token" "$1"; }
n_say "host $(uname -n 2>/dev/null || cat /proc/sys/kernel/hostname 2>/dev/null)"
n_say "bash $(command -v bash)"
n_say "sh $(command -v sh)"
n_say "env $(command -v env)"
n_say "setsid $(command -v setsid)"
n_say "processes $([ -r /proc/self/stat ] && echo yes)"
n_say "cwd $(pwd)"
n_say "boot $(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
cat "/proc/$$/environ" 2>/dev/null || env
n_say end
"""
"""Tells what the machine is; its environment is the only output."""

_PROGRAM = r"""
n_setsid=$(command -v setsid) n_sh=$(command -v sh) n_tr=$(command -v tr) n_grep=$(command -v grep) n_pid=
if [ -n "${BASH_VERSION-}" ]; then set +o posix; fi
n_say() { printf '\001%s %s\n' "$n_token" "$1" >&4; }
n_look() {
    n_found="/proc/[0-9]*/stat"
    if [ -n "$n_grep" ]; then n_found=$("$n_grep" -ls ") [A-Z] [0-9]* [0-9]* $n_pid " $n_found); fi
    for n_f in $n_found; do
        IFS= read -r n_l <"$n_f" || continue
        n_p=${n_f#/proc/} n_p=${n_p%/stat}
        set -- "$1" ${n_l##*) }
        case $2 in [ZX]) continue ;; esac
        [ "$5" = "$n_pid" ] && "$1" "$n_p" "$4"
    done 2>/dev/null
}
n_print() { echo "$1"; }
n_name() { n_say "alive $1 $("$n_tr" '\000\n' '\002 ' <"/proc/$1/cmdline")"; }
n_strike() { [ "$2" = "$n_pid" ] || kill "-$n_op" "$1"; }
n_signal() { n_op=$1; kill "-$n_op" "-$n_pid" 2>/dev/null; n_look n_strike; }
n_control() {
    while IFS= read -r n_line; do
        case $n_line in
            list) n_look n_name; n_say listed ;;
            *) n_signal "$n_line" ;;
        esac
    done
    n_try=0
    while n_signal KILL; [ $n_try -lt 100 ] && [ -n "$(n_look n_print)" ]; do n_try=$((n_try + 1)); done
}
exec 3<&0 4>&1 5>&2
if ! cd "$n_dir" 2>/dev/null; then
    if [ ! -e "$n_dir" ]; then n_say "directory does not exist"
    elif [ ! -d "$n_dir" ]; then n_say "directory is not a directory"
    else n_say "directory cannot be entered"; fi
    exit 1
fi
{
    exec 2>&1
    "$n_setsid" "$n_sh" -c "$n_start" sh "$n_shell" -c "$n_script" "${n_shell##*/}"
    echo "$n_token code $?"
} | {
    trap '' HUP INT TERM PIPE
    n_died=
    while IFS= read -r n_line; do
        case $n_line in
            "pid "*)
                if [ -z "$n_pid" ]; then n_pid=${n_line#pid }; n_control <&3 & n_say "$n_line"; fi ;;
            "$n_token code "*) break ;;
            "stages "* | "refused "*) n_say "$n_line" ;;
            *) n_died=$n_line ;;
        esac
    done
    if [ -z "$n_pid" ]; then n_say "failed $n_died"; exit 1; fi
    n_left=$(n_look n_print)
    if [ -n "$n_split" ]; then printf '\001%s end\n' "$n_token" >&5; fi
    n_say "exit ${n_line##* } ${n_died:+died} ${n_left:+left}"
    wait
}
"""


def program_of(command: Command, shell: str, token: str, login: Mapping[str, str]) -> str:
    """The program that runs a command with the shell at that path; the sh begins with the environment `login`."""
    is_bash = os.path.basename(shell) == "bash"
    script, notes = _bash_script(command) if is_bash else (command.script, False)
    errors = 5 if command.streams == "split" else 4
    notes_to = "9>&1 " if notes else ""
    start = f'echo "pid $$"; exec "$@" {notes_to}</dev/null >&4 2>&{errors} 3<&- 4>&- 5>&-'
    values = {
        "n_token": token,
        "n_dir": command.cwd,
        "n_shell": shell,
        "n_script": script,
        "n_start": start,
        "n_split": "yes" if command.streams == "split" else "",
    }
    lines = [f"{name}={quoted(value)}" for name, value in values.items()]
    # After the tools were found by the PATH of the login.
    found, _, rest = _PROGRAM.lstrip().partition("\n")
    lines += [found, *_environment_lines(command.env, login), rest]
    return "\n".join(lines)


def probe(token: str) -> str:
    return f"n_token={quoted(token)}{PROBE}"


def unset_names(env: Mapping[str, str]) -> list[str]:
    """The variables that a sh cannot set, because their names are none for it."""
    return sorted(name for name in env if not _is_name(name))


def _is_name(name: str) -> bool:
    return name.isascii() and name.isidentifier()


def _environment_lines(env: Mapping[str, str], login: Mapping[str, str]) -> list[str]:
    mine = {name for name in {*login, *env, "LC_ALL"} if _is_name(name) and name not in _NOT_SET}
    lines = [f"unset {name}" for name in sorted(mine - env.keys())]
    return lines + [f"export {name}={quoted(env[name])}" for name in sorted(mine & env.keys())]


def _bash_script(command: Command) -> tuple[str, bool]:
    """The script behind what bash does first, in the same line, and whether it leaves notes in descriptor 9."""
    first = ""
    if command.stages and not has_own_traps(command.script):
        report = (
            f'{{ builtin set -- "${{PIPESTATUS[@]}}"; [[ $BASHPID = $$ ]] && builtin echo stages "$@" >&{_NOTES_FD}; }}'
        )
        first += f"trap '{report} 2>/dev/null' EXIT; "
    if command.prologue:
        first += f"eval {quoted(with_notes(command.prologue, _NOTES_FD, 'true'))}; "
    if not first:
        return command.script, False
    return f"exec {_NOTES_FD}>&9 9>&-; {first}{command.script}", True
