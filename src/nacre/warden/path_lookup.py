"""Looks at paths whose file system may not answer, in a process that may hang in it: a runner."""

from __future__ import annotations

import os
import select
import stat

from nacre.warden import protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.messages import Look, Looked

PROJECT_MARKS = (".git", "nacre.toml")
# How often a file that is waited for is looked for.
ROUND_SECONDS = 0.05


def answer(question: Look, caller: int) -> Looked:
    """The answer to a request; it takes as long as the file system takes."""
    what, path = question["what"], question["path"]
    if what == "project":
        return protocol.looked(project_of(path))
    if what == "stamp":
        return protocol.looked(stamp_of(path))
    if what == "appears":
        return protocol.looked(wait_for(path, caller))
    return content_of(path)


def project_of(directory: str) -> str:
    """The nearest directory upward that holds a mark of a project, else the directory itself."""
    start = path = os.path.realpath(directory)
    while True:
        if any(os.path.exists(os.path.join(path, mark)) for mark in PROJECT_MARKS):
            return path
        path, below = os.path.dirname(path), path
        if path == below:
            return start


def stamp_of(path: str) -> int | None:
    """When a regular file was last changed; None where there is none."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns if stat.S_ISREG(found.st_mode) else None


def wait_for(path: str, caller: int) -> str | None:
    """The path, once a file of that name exists; None when the caller has hung up, or asks for something else."""
    heard = select.poll()
    heard.register(caller, select.POLLIN)
    while not os.path.exists(path):
        if heard.poll(ROUND_SECONDS * 1000):
            return None
    return path


def content_of(path: str) -> Looked:
    """The first bytes of a regular file, as Latin-1; None for a missing one."""
    try:
        # A FIFO that takes the file's place meanwhile is not waited for.
        if not stat.S_ISREG(os.stat(path).st_mode):
            return protocol.looked(None, error="irregular")
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        with open(fd, "rb") as file:
            return protocol.looked(file.read(protocol.MOST_FILE_BYTES + 1).decode("latin-1"))
    except FileNotFoundError:
        return protocol.looked(None)
    except (OSError, ValueError):
        return protocol.looked(None, error="unreadable")
