"""The file that says what became of a job: one JSON object, replaced atomically.

Written by the job's runner, read by any nacre on the same state directory. The runner holds a lock beside it from the
start to the final status, so whether a runner still answers for the job is asked of the kernel, not of a pid. The
file that the final status is written to is made at the start, with its room: a disk that is full by then costs a job
its output, not its status.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import socket
import stat
import time

from nacre.warden import log_line
from nacre.warden.record_values import check_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Record = dict[str, Any]

VERSION = 1
RECORD = "record.json"
FIRST = ".record.first"
RESERVE = ".record.last"
LOCK = "lock"
OUTPUT = "output"
# What a start adds to the record of a job: some 300 bytes. The final status adds some 400, and four for each stage of
# the job's pipeline.
FIRST_BYTES = 1024
RESERVE_BYTES = 4096
# A command line is shown to be recognised, not to be read.
ARGV_CHARACTERS = 60
# Makes a short number of the path of a directory.
_PRIME = (1 << 89) - 1
# Asks a job's runner to stop it. Not SIGTERM, which others send too.
STOP_SIGNAL = signal.SIGUSR1
# Of a job whose runner was killed.
RUNNER_KILLED = "lost: its runner was killed, its exit status is unknown"
# Why a command was stopped that no caller asked to stop: the name of a signal that its runner was sent, and the words.
SIGNALLED = {
    name: f"another process sent {name} to its runner, which stopped the command"
    for name in ("SIGTERM", STOP_SIGNAL.name)
}


def write(directory: str, record: Record, *, by: str = RESERVE) -> None:
    """Replace the record, by way of what was set aside for it, if anything was; a failure leaves nothing new behind."""
    path = os.path.join(directory, by)
    # Not `json.dump`, and no file object: they alone would touch a megabyte of what a runner shares with the others.
    data = json.dumps(record).encode("ascii")
    fd = open_regular(path, os.O_WRONLY | os.O_CREAT)
    reserved = os.fstat(fd).st_size
    try:
        written = 0
        while written < len(data):
            written += os.pwrite(fd, data[written:], written)
        os.ftruncate(fd, written)
        os.replace(path, os.path.join(directory, RECORD))
    except OSError:
        if not reserved:
            os.unlink(path)
        raise
    finally:
        os.close(fd)


def reserve(directory: str, record: Record) -> None:
    """Set aside the room for the record of a job that is about to start, and for its final one."""
    size = len(json.dumps(record))
    for name, more in ((FIRST, FIRST_BYTES), (RESERVE, RESERVE_BYTES)):
        fd = open_regular(os.path.join(directory, name), os.O_WRONLY | os.O_CREAT)
        try:
            _allocate(fd, size + more)
        finally:
            os.close(fd)


def _allocate(fd: int, size: int) -> None:
    try:
        os.posix_fallocate(fd, 0, size)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
            raise
        # A file system that cannot promise room may still give it.
        os.pwrite(fd, bytes(size), 0)


def read(directory: str) -> Record | None:
    """The record; None when there is none yet. Raises ValueError for a damaged or foreign one."""
    try:
        fd = open_regular(os.path.join(directory, RECORD), os.O_RDONLY)
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
    check_values(record)
    return record


def lock(directory: str) -> int:
    """Take the lock for as long as the returned descriptor stays open; raises BlockingIOError when it is held."""
    path = os.path.join(directory, LOCK)
    try:
        # A lock needs no right to write, and a read-only file system gives none.
        fd = open_regular(path, os.O_RDONLY)
    except FileNotFoundError:
        fd = open_regular(path, os.O_RDONLY | os.O_CREAT)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise
    return fd


def claim(directory: str) -> int:
    """Announce the id of a job for as long as the returned descriptor stays open, even without its directory.

    It is the name of a socket that no process connects to. The kernel lists it to every program (see `claimed`).
    """
    root, job_id = os.path.split(directory)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        sock.bind(_claims(root) + os.fsencode(job_id))
    except OSError:
        pass  # a job of this id lives, so the id is announced
    return sock.detach()


def claimed(root: str) -> list[str]:
    """The ids of the jobs that live and were started in this directory, also before it was deleted and made anew."""
    try:
        with open("/proc/net/unix", "rb") as file:
            names = [line.rpartition(b" ")[2].rstrip() for line in file]
    except OSError:
        return []  # no Linux, or no /proc
    prefix = b"@" + _claims(root)[1:]
    return [os.fsdecode(name.removeprefix(prefix)) for name in names if name.startswith(prefix)]


def _claims(root: str) -> bytes:
    """How the names of all claims in a directory begin: without its path, because every user can list them."""
    return b"\0nacre-job/%d/%d/" % (os.geteuid(), int.from_bytes(os.fsencode(root), "big") % _PRIME)


def holds(directory: str, fd: int) -> bool:
    """Whether a descriptor of `lock` is for the lock in this directory, and not for one that was removed with it."""
    try:
        return os.path.samestat(os.fstat(fd), os.lstat(os.path.join(directory, LOCK)))
    except FileNotFoundError:
        return False


def open_regular(path: str, flags: int) -> int:
    """Open a file of ours; a pipe or a device that another process put in its place is refused, and never waited for.

    Raises:
        OSError: EINVAL for what is no regular file.
    """
    fd = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    raise OSError(errno.EINVAL, "is not a regular file", path)


# The limits of a budget: how a text calls each, and its name in the settings.
BUDGETS = {
    "cpu": ("processor time", "cpu_seconds"),
    "memory": ("memory", "memory_bytes"),
    "processes": ("processes", "processes"),
    "file": ("file size", "file_bytes"),
    "output": ("output", "output_bytes"),
}


def spent(record: Record) -> str | None:
    """Why a job was stopped that has used up its budget; None if it was not."""
    if record["state"] != "stopped" or record.get("budget") not in BUDGETS:
        return None
    return f"its budget of {BUDGETS[record['budget']][0]} is used up"


def blame(record: Record) -> Record:
    """Whose doing the end of a job is, and the limit that was reached, if one was."""
    state, budget = record["state"], record.get("budget")
    if state == "lost":
        return {"cause": "infra"}
    if budget in BUDGETS and not (state == "exited" and record.get("exitCode") == 0):
        return {"cause": "limit", "clock": BUDGETS[budget][1]}
    if state in ("timed_out", "stopped"):
        return {"cause": "limit", "clock": "timeout" if state == "timed_out" else "stop"}
    return {"cause": "command"}


def told_blame(record: Record) -> Record:
    """The blame as data has it: whole for a job of another machine, absent for a local command's own doing."""
    blamed = blame(record)
    if record.get("remote"):
        return {"clock": None, **blamed}
    return {} if blamed["cause"] == "command" else blamed


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
        text = f"failed: {spent(record) or 'stopped on request'}"
    else:
        text = f"error: {record.get('reason', 'its exit status is unknown')}"
    left = f"[{record['stillRunning']}]\n" if "stillRunning" in record else ""
    return f"\n\n[background process {text}]\n{left}"


def still_running(survivors: Sequence[tuple[int, Sequence[str]]]) -> str:
    """The notice about what a finished shell has left."""
    return f"still running: {', '.join(spell_process(pid, argv) for pid, argv in survivors)}"


def spell_process(pid: int, argv: Sequence[str]) -> str:
    import shlex  # a job whose shell leaves nothing does not need the memory of `re`

    line = shlex.join(argv) if argv else "?"
    if len(line) > ARGV_CHARACTERS:
        line = f"{line[: ARGV_CHARACTERS - 1]}…"
    return f"pid {pid} ({line})"


def spell_duration(seconds: float) -> str:
    """A duration as people say it: 30s, 15m, 24h; fractions stay seconds."""
    for size, letter in ((3600, "h"), (60, "m")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g}{letter}"
    return f"{seconds:g}s"


def finish(directory: str, record: Record, *, recovering: bool = False) -> str | None:
    """Write what a final status asks for beside the record, each exactly once; what could not be written, in words.

    The final record is on disk before, `closed` is set after. A nacre that recovers a job whose runner died in between,
    or had a full disk, tells by the files whether something was written.
    """
    problem = _complete_output(directory, record) or _log_end(directory, record, recovering=recovering)
    if problem is None:
        try:
            write(directory, record | {"closed": True})
            record["closed"] = True
        except OSError as error:
            problem = f"its record could not be closed: {error.strerror}"
    return problem


def _complete_output(directory: str, record: Record) -> str | None:
    """Append the completion line, or what is missing of it."""
    if not record.get("completionLine"):
        return None
    line = completion_line(record).encode()
    try:
        fd = open_regular(os.path.join(directory, OUTPUT), os.O_RDWR | os.O_APPEND)
    except OSError as error:
        # An output file that is gone, or that the job replaced, never gets its line.
        record["outputError"] = f"the completion line could not be written: {error.strerror}"
        return None
    try:
        written = os.pread(fd, len(line), record.get("outputBytes", 0))
        missing = line[len(written) :] if line.startswith(written) else b""
        while missing:
            missing = missing[os.write(fd, missing) :]
    except OSError as error:
        return f"the completion line could not be written: {error.strerror}"
    finally:
        os.close(fd)
    return None


def _log_end(directory: str, record: Record, *, recovering: bool) -> str | None:
    """Write the line about the job's end to the log of its state directory, unless a caller waited for that end."""
    if record.get("attended"):
        return None
    state_dir = os.path.dirname(os.path.dirname(directory))
    entry = end_entry(record)
    if recovering and log_line.has_end(state_dir, entry):
        return None
    return log_line.append_line(state_dir, entry)


# A job's states in its record, which keeps the spelling of its version, and the outcomes of every other surface.
OUTCOMES = {"killed": "signalled", "timed_out": "timedOut"}


def end_entry(record: Record) -> Record:
    """The end of a job as the log has it: facts and sizes, never content."""
    # A damaged record has a final state without its time; its end is then told when it is found.
    started, ended = record.get("startedAt") or 0.0, record.get("endedAt")
    number = record.get("signal")
    entry = {
        "time": time.time() if ended is None else ended,
        "call": record.get("call"),
        "contract": record.get("contract"),
        "command": record.get("command", ""),
        "cwd": record.get("cwd"),
        "outcome": OUTCOMES.get(record["state"], record["state"]),
        "exitCode": record.get("exitCode") if number is None else 128 + number,
        "durationMs": None if ended is None else round((ended - started) * 1000, 3),
        "stdoutBytes": record.get("outputBytes"),
        "stderrBytes": None,
        "event": "end",
        "jobId": record["id"],
        "startedAt": started,
    }
    entry |= told_blame(record)
    if record["state"] == "lost":
        entry["error"] = record.get("reason")
    if "survivors" in record:
        entry["survivors"] = record["survivors"]
    notices = [record[name] for name in ("outputError", "hiddenFailure", "stillRunning") if record.get(name)]
    if "refusedHosts" in record:
        from nacre.warden.refusals import words_about

        notices.append(words_about(record["refusedHosts"]))
    return entry | {"notices": notices} if notices else entry
