"""The terminal of a job, reached from any process of the same user: type, resize, and ask what it waits for."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
from dataclasses import dataclass

from nacre.command import TerminalSize
from nacre.errors import JobError
from nacre.jobs.job import Job
from nacre.jobs.status import outcome_of
from nacre.kept_command import Waiting
from nacre.state_directory import StateDirectoryError
from nacre.warden import terminal

DEFAULT_SIZE = TerminalSize()
# What the runner keeps of typed text at most.
MOST_BYTES = terminal.MOST_TYPED_BYTES
# A runner takes well below a millisecond.
ANSWER_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class TerminalState:
    size: TerminalSize
    waiting: Waiting | None = None
    interactive: bool = False
    """Whether the program reads single keys: an editor, a pager, a prompt that edits its line."""
    full_screen: bool = False
    """Whether it shows the alternate screen, so that its output has no lines."""


def has_terminal(job: Job) -> bool:
    return bool(job.record.get("terminal"))


class UnreadInputError(JobError):
    """The program does not read what was typed."""


def write(job: Job, data: bytes, *, settled: bool = True) -> None:
    """Type into the job's terminal.

    Args:
        settled: wait a moment until the job's state knows of it.

    Raises:
        UnreadInputError: it does not read its terminal.
        JobError: the job has ended, has no terminal, or cannot take a line that long.
    """
    for start in range(0, len(data), MOST_BYTES):
        piece = terminal.TYPED + data[start : start + MOST_BYTES]
        _send(job, piece, sent=start, size=len(data), settled=settled)


def resize(job: Job, columns: int, rows: int) -> None:
    """Change the size of the job's terminal; raises JobError as `write` does."""
    _send(job, terminal.SIZE + terminal.SIZES.pack(columns, rows))


def show(job: Job, offset: int) -> None:
    """Tell the runner how much of the output is shown: the program does not get far ahead of that from now on."""
    with contextlib.suppress(JobError):
        _send(job, terminal.SHOWN + terminal.OFFSET.pack(offset), settled=False)


def _send(job: Job, message: bytes, *, sent: int = 0, size: int = 0, settled: bool = True) -> None:
    if not job.running:
        raise JobError(f"{job.id} has ended ({outcome_of(job)}); nothing reads its terminal any more")
    if not has_terminal(job):
        raise JobError(f"{job.id} has no terminal; start the command with async and pty: true to give it one")
    try:
        answer = job.files.call(_deliver, str(job.directory), message, settled)
    except BlockingIOError as error:
        raise UnreadInputError(
            f"{job.id} does not read its terminal: {sent} of {size} bytes were typed; wait until it reads, then type "
            "the rest"
        ) from error
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ECONNREFUSED):
            raise JobError(f"{job.id} has closed its terminal; nothing was typed") from error
        raise JobError(f"the terminal of {job.id} cannot be reached: {error.strerror}") from error
    if answer == terminal.TOO_LONG:
        raise JobError(
            f"the terminal of {job.id} holds lines of at most {terminal.LONGEST_LINE_BYTES} bytes: {sent} of {size} "
            "bytes were typed; type shorter lines, or write the text to a file that the program reads"
        )


def _deliver(directory: str, message: bytes, settled: bool) -> bytes:
    # Through a descriptor: the path of a socket holds 107 bytes at most.
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.settimeout(0)
            # A datagram is whole or not sent at all.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * MOST_BYTES)
            if settled:
                # An address of its own, so that the runner can answer.
                sock.bind("")
            sock.sendto(message, f"/proc/self/fd/{fd}/{terminal.SOCKET}")
            if not settled:
                return b""
            sock.settimeout(ANSWER_SECONDS)
            # Without an answer in time it is typed later: the runner is stopped, or the program reads nothing.
            with contextlib.suppress(TimeoutError):
                return sock.recv(len(terminal.DONE))
            return b""
    finally:
        os.close(fd)


def state(job: Job) -> TerminalState | None:
    """Return how the job's terminal stands; None where it has none, or has ended."""
    if not job.running or not has_terminal(job):
        return None
    try:
        found = job.files.call(_read, os.path.join(job.directory, terminal.STATE))
    except StateDirectoryError:
        raise
    except OSError:
        return None
    return found


def _read(path: str) -> TerminalState | None:
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        found = json.loads(os.read(fd, 65536))
    except ValueError:
        return None
    finally:
        os.close(fd)
    asked = found["waitingFor"]
    waiting = None if asked is None else Waiting(asked["prompt"], asked["hidden"])
    size = TerminalSize(found["columns"], found["rows"])
    return TerminalState(size, waiting, found["interactive"], found["fullScreen"])
