"""Why nothing was started, in words: the one table from a failed step and its errno to nacre's exceptions."""

from __future__ import annotations

import errno
import os

from nacre.command import Command
from nacre.errors import NacreError, StartError, TerminalError, WorkingDirectoryError, reason_of

_DIRECTORY = {
    errno.ENOENT: "does not exist",
    errno.ENOTDIR: "is not a directory",
    errno.EACCES: "cannot be entered: permission denied",
    errno.ELOOP: "is a loop of symbolic links",
    errno.ENAMETOOLONG: "has too long a name",
}

_ADVICE = {
    errno.E2BIG: "the environment and arguments are too large for one program; pass less in env, or use files",
    errno.EAGAIN: "the limit on processes is reached; end some and try again",
    errno.EMFILE: "this program has too many open files; close some or raise the limit (ulimit -n)",
    errno.ENFILE: "the system has too many open files",
    errno.ENOMEM: "the system is out of memory",
}


def start_error(step: str, number: int | None, reason: str, command: Command) -> NacreError:
    """The exception for a command that could not be started."""
    if step == "cwd":
        words = _DIRECTORY.get(number or 0) or f"cannot be used: {reason_of(number) if number else reason}"
        return WorkingDirectoryError(command.cwd, words)
    if step == "sandbox":
        return StartError(f"nothing was run: the sandbox could not be made: {reason}", errno=number)
    words = _ADVICE.get(number or 0) or (reason_of(number) if number else reason)
    if step == "shell":
        return StartError(f"cannot start the shell {command.shell}: {words}", errno=number)
    if step == "terminal":
        return TerminalError(f"PTY error: {words}", errno=number)
    return StartError(f"cannot start the command: {words}", errno=number)


def directory_error(command: Command, message: str) -> NacreError:
    """Why a shell that runs could not enter a directory, from bash's message in English."""
    reason = message.strip().rpartition(": ")[2]
    number = next((one for one in errno.errorcode if os.strerror(one) == reason), None)
    return start_error("cwd", number, reason or "the shell could not enter it", command)
