"""The file that says what became of a job: one JSON object, replaced atomically.

Written by the job's runner, read by any nacre on the same state directory. The runner holds a lock beside it from the
start to the final status, so whether somebody still answers for the job is asked of the kernel, not of a pid.
"""

from __future__ import annotations

import fcntl
import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Record = dict[str, Any]

VERSION = 1
RECORD = "record.json"
LOCK = "lock"
OUTPUT = "output"


def write(directory: str, record: Record) -> None:
    temporary = os.path.join(directory, f".{RECORD}.{os.getpid()}")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    # Not `json.dump`, and no file object: they alone would touch a megabyte of what a runner shares with the others.
    data = memoryview(json.dumps(record).encode("ascii"))
    try:
        while data:
            data = data[os.write(fd, data) :]
    finally:
        os.close(fd)
    os.replace(temporary, os.path.join(directory, RECORD))


def read(directory: str) -> Record | None:
    """The record; None when there is none yet. Raises ValueError for a damaged or foreign one."""
    try:
        fd = os.open(os.path.join(directory, RECORD), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with open(fd, encoding="ascii") as file:
        if os.fstat(fd).st_uid != os.geteuid():
            raise ValueError("belongs to another user")
        record = json.load(file)
    if not isinstance(record, dict) or "state" not in record or "id" not in record:
        raise ValueError("is not a job record")
    if record.get("version") != VERSION:
        raise ValueError(f"has version {record.get('version')!r}, this nacre reads {VERSION}")
    return record


def lock(directory: str) -> int:
    """Take the lock for as long as the returned descriptor stays open; raises BlockingIOError when it is held."""
    fd = os.open(os.path.join(directory, LOCK), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise
    return fd


def completion_line(record: Record) -> str:
    """The line that ends a background job's output file."""
    state = record["state"]
    if state == "exited":
        code = record["exitCode"]
        text = "completed" if code == 0 else f"failed: exit code {code}"
    elif state == "killed":
        text = f"failed: killed by {record['signalName']} ({128 + record['signal']})"
    elif state == "timed_out":
        text = f"failed: timed out after {spell_duration(record['timeout'])}"
    elif state == "stopped":
        text = "failed: stopped on request"
    else:
        text = f"error: {record.get('reason', 'its exit status is unknown')}"
    return f"\n\n[background process {text}]\n"


def spell_duration(seconds: float) -> str:
    """A duration as people say it: 30s, 15m, 24h; fractions stay seconds."""
    for size, letter in ((3600, "h"), (60, "m")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g}{letter}"
    return f"{seconds:g}s"


def close_output(directory: str, record: Record, *, recovering: bool = False) -> None:
    """Append the completion line, exactly once: the final record is on disk before, `closed` is set after.

    Whoever recovers a job whose runner died in between tells by the file's size whether the line was written.
    """
    if record.get("completionLine"):
        try:
            fd = os.open(os.path.join(directory, OUTPUT), os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            record["outputError"] = f"the completion line could not be written: {error.strerror}"
        else:
            with open(fd, "ab", buffering=0) as file:
                if not recovering or os.fstat(fd).st_size <= record.get("outputBytes", 0):
                    file.write(completion_line(record).encode())
    record["closed"] = True
    write(directory, record)
