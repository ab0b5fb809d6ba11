"""One line of the audit log, appended with a single write, so that lines of several processes never mix."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "log.jsonl"
FAILURE = "the audit log could not be written"

_encode = json.JSONEncoder(separators=(",", ":")).encode


def encoded(entry: Mapping[str, Any]) -> bytes:
    return _encode(entry).encode("ascii") + b"\n"


def append_line(state_dir: str | os.PathLike[str], entry: Mapping[str, Any]) -> str | None:
    """Write one line for a process that writes only one; a failure is returned in words. The log is not turned over."""
    try:
        fd = open_log(os.path.join(state_dir, NAME))
        try:
            write_line(fd, encoded(entry))
        finally:
            os.close(fd)
    except OSError as error:
        return f"{FAILURE}: {error.strerror}"
    return None


def has_end(state_dir: str | os.PathLike[str], entry: Mapping[str, Any]) -> bool:
    """Whether the log has the end of this job already; looked for without decoding every line."""
    marker = encoded({name: entry[name] for name in ("event", "jobId", "startedAt")})[1:-2]
    log = os.path.join(state_dir, NAME)
    for path in (log, f"{log}.1"):
        try:
            with open(path, "rb", opener=open_for_reading) as file:
                if any(marker in line for line in file):
                    return True
        except OSError:
            continue
    return False


def open_log(path: str) -> int:
    # A FIFO in its place is not waited for.
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        return os.open(path, flags, 0o600)


def open_for_reading(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def write_line(fd: int, line: bytes) -> None:
    """Write a line; raise on a disk that fills up in the middle.

    What was written then stays: others may have written behind it. A reader finds the next entry in the same line.
    """
    written = os.write(fd, line)
    while written < len(line):
        written += os.write(fd, line[written:])
