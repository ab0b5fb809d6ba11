"""What a caller may want to know of a path that may not answer: looked at by a runner, which may be stuck in that."""

from __future__ import annotations

import os
import stat

from nacre.warden import protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.messages import Look, Looked

MARKS = (".git", "nacre.toml")


def answer(question: Look) -> Looked:
    """The answer to a request; it may take as long as the file system takes."""
    path = question["path"]
    return protocol.looked(project_of(path) if question["what"] == "project" else stamp_of(path))


def project_of(directory: str) -> str:
    """The nearest directory upward that holds a mark of a project, else the directory itself."""
    start = path = os.path.realpath(directory)
    while True:
        if any(os.path.exists(os.path.join(path, mark)) for mark in MARKS):
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
