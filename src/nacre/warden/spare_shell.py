"""A shell that is started in advance and then runs its script exactly as `bash -c script` would.

Bash reads BASH_ENV after it has set itself up and before it looks at the string after `-c`. There a spare waits. The
string itself still lies where the kernel put it when the shell was started, at the beginning of its stack, and the
shell has only a pointer to it: the script is written over it, from outside, into room that an environment variable
behind it keeps. So nothing is evaluated inside anything else: `$0`, SHLVL, line numbers, messages about syntax and
the exec of a last command are bash's own.
"""

from __future__ import annotations

import os

from nacre.warden import children, launch
from nacre.warden.protocol import GO_FD, TEXT_FD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# The variable that keeps the room, and later the text; it is gone when the script begins.
ROOM = "__nacre_room"
# More than nearly any script; a longer one starts its own shell.
ROOM_BYTES = 16 * 1024
# What its caller is handed: memory, state, the runner's children, the process; then its notes, and what is in its
# sandbox, where it has one.
OPENED, HANDLES = 4, 5
# The field of /proc/PID/stat, counted from the state, that tells where the arguments begin.
_ARG_START = 45


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


def open_handles(pid: int, notes_fd: int | None, orphans: int | None = None) -> tuple[list[int], int]:
    """What its caller needs to use a shell that was just started, and to see its end without asking the runner.

    The descriptors of its memory, its state, the runner's children, the process itself and its notes; then where in
    the memory the arguments begin. The first four are the receiver's to close. With `orphans`, the descriptor that
    shows what else is in its sandbox, that is the last one.
    """
    assert notes_fd is not None
    me = os.getpid()
    fds: list[int] = []
    try:
        fds.append(os.open(f"/proc/{pid}/mem", os.O_RDWR | os.O_CLOEXEC))
        fds.append(os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC))
        fds.append(os.open(f"/proc/{me}/task/{me}/children", os.O_RDONLY | os.O_CLOEXEC))
        fds.append(os.pidfd_open(pid))
        fields = children.stat_fields(pid)
        if len(fields) <= _ARG_START:
            raise ProcessLookupError
    except BaseException:
        for fd in fds:
            os.close(fd)
        raise
    return [*fds, notes_fd, *([] if orphans is None else [orphans])], int(fields[_ARG_START])
