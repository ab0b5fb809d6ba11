"""A shell that is started in advance and then runs its script exactly as `bash -c script` would.

Bash reads BASH_ENV after it has set itself up and before it looks at the string after `-c`. There a spare waits. The
string itself still lies where the kernel put it when the shell was started, at the beginning of its stack, and the
shell has only a pointer to it: the script is written over it, from outside, into room that an environment variable
behind it keeps. So nothing is evaluated inside anything else: `$0`, SHLVL, line numbers, messages about syntax and
the exec of a last command are bash's own.
"""

from __future__ import annotations

import os

from nacre.warden import launch
from nacre.warden.protocol import GO_FD, TEXT_FD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# The variable that keeps the room, and later the text; it is gone when the script begins.
ROOM = "__nacre_room"
# More than nearly any script; a longer one starts its own shell.
ROOM_BYTES = 16 * 1024
# What its caller is handed: memory, state, the runner's children, the process, its notes.
HANDLES = 5
# Fields of /proc/PID/stat, counted from the state: whether it waits, where the arguments begin, the exit status.
_WAITS, _ARG_START, _EXIT_CODE = 32, 45, 49


def prepare(shell: str, env: Mapping[bytes, bytes]) -> launch.Launch:
    """The launch of a spare; raises OSError when no descriptor can be had."""
    prepared = launch.Launch(shell)
    name = os.path.basename(shell)
    try:
        prepared.notes_fd, write_end = launch.notes_file()
        prepared.inherited.append(write_end)
        text_fd = launch.text_fd("")
        prepared.inherited.append(text_fd)
        # What `$_` is in a new shell.
        last = os.fsdecode(env.get(b"_", b"")) or name
        launch.fill(text_fd, _loader(text_fd, write_end, last))
    except BaseException:
        prepared.close()
        raise
    prepared.argv = [name, "-c", ":"]
    prepared.variables["BASH_ENV"] = f"/dev/fd/{text_fd}"
    return prepared


def _loader(text_fd: int, notes_fd: int, last: str) -> str:
    """What the shell does when it is set up: it waits, takes its script, and leaves nothing of ours behind.

    All that can be is read before the wait, because bash reads a line when it comes to it.
    """
    text = f"${{{ROOM}[1]}}"
    return (
        f"exec {text_fd}<&-\n"
        # Before that version no text can be read up to its NUL.
        "((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)) || exit\n"
        f"builtin printf r >&{GO_FD} && builtin read -r -u {GO_FD} {ROOM}"
        f" && builtin mapfile -d '' -t -u {TEXT_FD} {ROOM} && exec {GO_FD}<&- {TEXT_FD}<&-"
        f" && {{ SECONDS=0 BASH_EXECUTION_STRING=${{{ROOM}[0]}};"
        f' if [[ {text} ]]; then builtin eval "{text}"; else exec {notes_fd}>&-; fi;'
        f" builtin unset -v {ROOM} BASH_ENV; }};"
        f" : {launch.quoted(last)}\n"
    )


def handed(script: str, *, notes_fd: int, prologue: str, stages: bool) -> bytes:
    """What the shell takes: its script, and a text to run before it where there is one."""
    texts = [script]
    if stages or prologue:
        texts.append("\n".join(launch.prologue_lines(prologue, notes_fd, stages=stages)))
    return os.fsencode("\0".join(texts)) + b"\0"


def open_handles(pid: int, notes_fd: int | None) -> tuple[list[int], int]:
    """What its caller needs to use a shell that was just started, and to see its end without asking the runner.

    The descriptors of its memory, its state, the runner's children, the process itself and its notes; then where in
    the memory the arguments begin. All but the last are the receiver's to close.
    """
    assert notes_fd is not None
    me = os.getpid()
    fds: list[int] = []
    try:
        fds.append(os.open(f"/proc/{pid}/mem", os.O_RDWR | os.O_CLOEXEC))
        fds.append(os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC))
        fds.append(os.open(f"/proc/{me}/task/{me}/children", os.O_RDONLY | os.O_CLOEXEC))
        fds.append(os.pidfd_open(pid))
        fields = state_fields(fds[1])
        if len(fields) <= _EXIT_CODE:
            raise ProcessLookupError
    except BaseException:
        for fd in fds:
            os.close(fd)
        raise
    return [*fds, notes_fd], int(fields[_ARG_START])


def state_fields(stat: int) -> list[bytes]:
    """The fields of an open /proc/PID/stat from the state on; [] when the process is gone."""
    try:
        return os.pread(stat, 4096, 0).rpartition(b")")[2].split()
    except OSError:
        return []


def wait_status(stat: int) -> int | None:
    """The raw status of a shell that has ended and was not collected; None when it cannot be told.

    To whom the kernel does not trust it shows 0 as the status, as it does of a program with other rights that took the
    shell's place. The field before tells: of a process that does not run it is 1, but 0 as well to the untrusted.
    """
    fields = state_fields(stat)
    if len(fields) <= _EXIT_CODE or fields[0] != b"Z" or fields[_WAITS] != b"1":
        return None
    return int(fields[_EXIT_CODE])


def write_arguments(memory: int, at: int, shell: str, script: str) -> bool:
    """Put the script where the shell will look for it; False when the shell is gone.

    The names before it are joined to it with blanks, so that `ps` shows all of it: the kernel shows what was written
    over as one string.
    """
    text = os.fsencode(f"{shell[shell.rfind('/') + 1 :]} -c {script}\0")
    return os.pwrite(memory, text, at) == len(text)
