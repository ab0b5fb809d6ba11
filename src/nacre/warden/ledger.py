"""Which runner answers for which job, as the zygote knows it: the end of a job whose runner was killed is told at once.

A runner notes the directory of its job in a pipe, which the zygote reads only when a runner has been killed.
"""

from __future__ import annotations

import os
import time

from nacre.warden import children, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.record import Record

# A whole note, or none: more than that would not be written in one piece.
_NOTE_BYTES = 4096
# How long the processes of a killed runner may take to be gone.
SETTLE_SECONDS = 5.0
ROUND_SECONDS = 0.005

_reader = _writer = -1
_jobs: dict[int, str] = {}


def open_ledger() -> None:
    """In the zygote, before its first runner."""
    global _reader, _writer
    _reader, _writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)


def note(runner: int, directory: str) -> None:
    """Have the zygote know that a runner answers for a job."""
    entry = b"%d %s\0" % (runner, os.fsencode(directory))
    if _writer >= 0 and len(entry) <= _NOTE_BYTES:
        try:
            os.write(_writer, entry)
        except OSError:
            return  # a full pipe, or a zygote that is gone: the next nacre that looks at the job tells its end


def settle_job_of(runner: int) -> None:
    """Tell the end of the job that a killed runner answered for, in a process of its own: a disk may not answer."""
    if _reader < 0:
        return
    try:
        while data := os.read(_reader, 65536):
            for entry in data.split(b"\0")[:-1]:
                pid, _, path = entry.partition(b" ")
                # A command with the rights of root can write here too, by way of /proc.
                if pid.isdigit():
                    _jobs[int(pid)] = os.fsdecode(path)
    except BlockingIOError:
        pass  # that was all
    directory = _jobs.pop(runner, None)
    if directory is None or os.fork():
        return
    status = 1
    try:
        _settle(directory)
        status = 0
    finally:
        os._exit(status)


def _settle(directory: str) -> None:
    end = time.monotonic() + SETTLE_SECONDS
    while time.monotonic() < end:
        try:
            lock = record.lock(directory)
        except BlockingIOError:
            # Held by a nacre that looks at the job, or by what is being killed.
            time.sleep(ROUND_SECONDS)
            continue
        found = record.read(directory)
        if found is None or found.get("closed"):
            return
        if found["state"] != "running" or not is_alive(found):
            if found["state"] == "running":
                found |= lost_state(directory, found)
                record.write(directory, found)
            record.finish(directory, found, recovering=True)
            return
        os.close(lock)
        time.sleep(ROUND_SECONDS)


def is_alive(found: Record) -> bool:
    """Whether the process that a job's record names is that process, and alive."""
    pid = found.get("pid")
    return (
        isinstance(pid, int)
        and found.get("bootId") == children.boot_id()
        and children.start_time(pid) == found.get("pidStart")
        and not children.is_zombie(pid)
    )


def lost_state(directory: str, found: Record) -> Record:
    """What the record of a job says whose end no runner can tell any more."""
    rebooted = found.get("bootId") != children.boot_id()
    reason = "lost: the machine was restarted, its exit status is unknown" if rebooted else record.RUNNER_KILLED
    try:
        size = os.stat(os.path.join(directory, record.OUTPUT)).st_size
    except FileNotFoundError:
        size = 0
    return {
        "state": "lost",
        "reason": reason,
        "endedAt": time.time(),
        "outputBytes": size,
    }
