"""Turns a request into what exec needs: argv, environment, and descriptors under fixed high numbers.

A short script goes to `bash -c`; one argument holds less than 128 KiB on Linux, so a longer script becomes a memory
file that bash reads. Text to be sourced before the script (the prologue) rides on BASH_ENV and removes every trace of
itself before the first line of the script runs, so line numbers, `$0` and error messages stay bash's own.
"""

from __future__ import annotations

import fcntl
import os

from nacre.warden import protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from nacre.warden.messages import Message, Script, Shell

    FileAction = tuple[int, int, int] | tuple[int, int, str, int, int]

# Linux: MAX_ARG_STRLEN is 32 pages including the final NUL (131,071 bytes run, 131,072 give E2BIG).
MAX_ARGUMENT_BYTES = 131_071
# What stands in a prologue before a command that prints a note.
NOTES_MARK = "@notes@"
# The first line of the file for notes.
_NOTES = "nacre-notes"


class Launch:
    """What exec needs, and the descriptors to give back afterwards."""

    __slots__ = ("argv", "inherited", "notes_fd", "path", "variables")

    def __init__(self, path: str) -> None:
        self.path = path
        self.argv: list[str] = []
        self.variables: dict[str, str] = {}
        """What the environment needs beyond the request's own."""
        self.inherited: list[int] = []
        """Descriptors the child gets under the same number; ours to close after the start."""
        self.notes_fd: int | None = None
        """Where the shell leaves notes about itself: refusals, and at its exit the last pipeline's stage codes."""

    def close_inherited(self) -> None:
        for fd in self.inherited:
            os.close(fd)
        self.inherited = []

    def close(self) -> None:
        self.close_inherited()
        if self.notes_fd is not None:
            os.close(self.notes_fd)
            self.notes_fd = None


def file_actions(launch: Launch, writers: list[int], request: Shell) -> list[FileAction]:
    """What the child does with descriptors before the exec, in the terms of posix_spawn."""
    actions: list[FileAction]
    if "terminal" in request:
        # The first terminal that a new session's leader opens is its controlling one.
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.ttyname(writers[0]), os.O_RDWR, 0),
            (os.POSIX_SPAWN_DUP2, 0, 1),
            (os.POSIX_SPAWN_DUP2, 0, 2),
        ]
        return [*actions, *((os.POSIX_SPAWN_DUP2, fd, fd) for fd in launch.inherited)]
    stdin = request["stdin"]
    actions = [
        # A fifo opened for both has no end of file, and no reader can be missing.
        (os.POSIX_SPAWN_OPEN, 0, stdin or "/dev/null", os.O_RDWR if stdin else os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, writers[0], 1),
        (os.POSIX_SPAWN_DUP2, writers[request["outputs"] - 1], 2),
    ]
    if "side" in request:
        actions.append((os.POSIX_SPAWN_DUP2, writers[request["outputs"]], request["side"]))
    # A duplicate onto itself only clears close-on-exec.
    return [*actions, *((os.POSIX_SPAWN_DUP2, fd, fd) for fd in launch.inherited)]


def received_environment(request: Message, known: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """The environment that a request brings, or the one that was known before it."""
    env = request.get("env")
    if not isinstance(env, dict):
        return known
    return {os.fsencode(name): os.fsencode(value) for name, value in env.items()}


def environment(launch: Launch, env: Mapping[bytes, bytes], request: Shell) -> dict[bytes, bytes]:
    full = dict(env)
    if request["namesCwd"]:
        full[b"PWD"] = os.fsencode(request["cwd"])
    for name, value in launch.variables.items():
        full[os.fsencode(name)] = os.fsencode(value)
    return full


def prepare_request(request: Script) -> Launch:
    """Build the launch that a request asks for; raises OSError when no descriptor can be had."""
    launch = prepare(
        request["shell"],
        request["script"],
        bash_env=request["bashEnv"],
        prologue=request["prologue"],
        stages=request["stages"],
    )
    if "overlay" in request and "words" not in request.get("sandbox", {}):
        # Loaded by the runners of tries.
        from nacre.warden.overlay_entry import words_of

        words = words_of(request["overlay"], request["cwd"], request.get("sandbox"))
        launch.argv = [*words, launch.path, *launch.argv]
        launch.path = words[0]
    return launch


def prepare(shell: str, script: str, *, bash_env: str | None, prologue: str, stages: bool) -> Launch:
    """Build the launch of a script; raises OSError when no descriptor can be had.

    `bash_env` is the value of BASH_ENV that the command's own environment has, if any.
    """
    launch = Launch(shell)
    # The bare name, so that messages begin with "bash:" as they do at a prompt.
    name = os.path.basename(shell)
    try:
        lines: list[str] = []
        if stages or prologue:
            launch.notes_fd, write_end = notes_file()
            launch.inherited.append(write_end)
            if stages and has_own_traps(script):
                lines.append(f"BASH_EXECUTION_STRING={quoted(script)}")
                script += _late_report(write_end)
                stages = False
            lines += prologue_lines(prologue, write_end, stages=stages)
        # fsencode, not utf-8: the script may hold undecodable bytes as lone surrogates.
        if len(os.fsencode(script)) > MAX_ARGUMENT_BYTES:
            script_fd = text_fd(script)
            launch.inherited.append(script_fd)
            launch.argv = [name, f"/dev/fd/{script_fd}"]
        else:
            launch.argv = [name, "-c", script]
        if lines:
            _add_prologue(launch, lines, bash_env)
    except BaseException:
        launch.close()
        raise
    return launch


def _add_prologue(launch: Launch, lines: list[str], bash_env: str | None) -> None:
    fd = text_fd("")
    launch.inherited.append(fd)
    if bash_env:
        own = f"export BASH_ENV={quoted(bash_env)}\n[ -r {quoted(bash_env)} ] && . {quoted(bash_env)}"
    else:
        own = "unset BASH_ENV"
    fill(fd, "\n".join([f"exec {fd}<&-", own, *lines]) + "\n")
    launch.variables["BASH_ENV"] = f"/dev/fd/{fd}"


def prologue_lines(prologue: str, notes_fd: int, *, stages: bool) -> list[str]:
    """What the shell does before its script so that it can leave its notes."""
    lines = []
    if stages:
        lines.append(f"trap '{_report(notes_fd)}' EXIT")
    if prologue:
        file = f"/dev/fd/{notes_fd}"
        ours = f"[[ -f {file} ]] && builtin read -r word <{file} && [[ $word = {_NOTES} ]]"
        lines.append(with_notes(prologue, notes_fd, ours))
    return lines


def with_notes(prologue: str, notes_fd: int, ours: str) -> str:
    """The prologue whose notes go there, if the descriptor is still ours by then, which the other text tells."""
    return prologue.replace(NOTES_MARK, f"{ours} && >&{notes_fd}")


def has_own_traps(script: str) -> bool:
    """Whether a script may set or show traps: then its stage codes are taken by a line after it, not by a trap."""
    return "trap" in script


def _report(notes_fd: int, *, code: str = "", last: str = "") -> str:
    """Note the stage codes of the last pipeline.

    Only by the shell itself, because a subshell can run its parent's trap. Only into our file, which is told by its
    first line: a script may have opened the same descriptor for itself. The group sends a trace (set -x) to nowhere.
    """
    file = f"/dev/fd/{notes_fd}"
    return (
        f'{{ builtin set -- {code}"${{PIPESTATUS[@]}}";'
        f" [[ $BASHPID = $$ && -f {file} ]] && builtin read -r <{file} && [[ $REPLY = {_NOTES} ]]"
        f' && builtin printf "%s " stages "${{@{":2" if code else ""}}}" >&{notes_fd};{last} }} 2>/dev/null'
    )


def _late_report(notes_fd: int) -> str:
    """The same as the last line of a script, which keeps its status."""
    return "\n" + _report(notes_fd, code='"$?" ', last=' (builtin exit "$1");')


def quoted(text: str) -> str:
    """As one word of bash. shlex would do, and costs every runner the memory of `re`."""
    return "'" + text.replace("'", "'\\''") + "'"


def notes_file() -> tuple[int, int]:
    """A memory file for notes: its descriptor here, and the one for the shell under a high number."""
    write_end = text_fd(f"{_NOTES}\n")
    try:
        fcntl.fcntl(write_end, fcntl.F_SETFL, os.O_APPEND)
        return os.dup(write_end), write_end
    except OSError:
        os.close(write_end)
        raise


def text_fd(text: str) -> int:
    """A memory file under a high number."""
    if hasattr(os, "memfd_create"):
        low = os.memfd_create("nacre-script")
    else:
        import tempfile

        low, path = tempfile.mkstemp(prefix="nacre-script-")
        os.unlink(path)
    try:
        high = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, protocol.LOWEST_FD)
    finally:
        os.close(low)
    try:
        fill(high, text)
    except OSError:
        os.close(high)
        raise
    return high


def fill(fd: int, text: str) -> None:
    data = memoryview(os.fsencode(text))
    while data:
        data = data[os.write(fd, data) :]
    os.lseek(fd, 0, os.SEEK_SET)


class Notes:
    """What the shell left about itself."""

    __slots__ = ("refused", "stages")

    def __init__(self, stages: list[int], refused: list[str]) -> None:
        self.stages = stages
        self.refused = refused


def read_notes(fd: int) -> Notes:
    """The notes that are there; none when the shell was killed, or replaced its trap."""
    try:
        return notes_of(os.pread(fd, 65536, len(_NOTES) + 1))
    except OSError:
        return notes_of(b"")


def read_late_notes(fd: int) -> Notes:
    """The notes at the end of the file that a session's scripts come in: after the last NUL, which ends the script."""
    size = os.fstat(fd).st_size
    return notes_of(os.pread(fd, 65536, max(0, size - 65536)).rpartition(b"\0")[2])


def notes_of(data: bytes) -> Notes:
    stages: list[int] = []
    refused: list[str] = []
    for line in data.split(b"\n"):
        kind, _, rest = line.partition(b" ")
        if kind == b"refused":
            refused.append(rest.decode("utf-8", "replace"))
        elif kind == b"stages" and all(word.isdigit() for word in rest.split()):
            stages = [int(word) for word in rest.split()]
    return Notes(stages, refused)
