"""The audit log: one JSON line for each call, never the content of its output.

Appended with a single write, so lines of several nacres never mix; turned over at a size, so it cannot fill a disk.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

from nacre import forks
from nacre.errors import NacreError, reason_of
from nacre.state_directory import answers, files, survey
from nacre.warden.log_line import FAILURE, NAME, append_line, encoded, open_for_reading, open_log, write_line

__all__ = ["FAILURE", "NAME", "AuditLog", "append_line", "entries"]

# A turn-over takes microseconds; the lock of one that takes longer is held by a process that does not run.
LOCK_SECONDS = 1.0


class AuditLog:
    """The log of one state directory, held open, because every call writes one line."""

    def __init__(self, state_dir: str | os.PathLike[str], *, cap_bytes: int) -> None:
        self._state_dir = os.path.abspath(state_dir)
        self._answers = answers(self._state_dir)
        self._path = os.path.join(self._state_dir, NAME)
        self._cap = cap_bytes
        self._fd: int | None = None
        self._identity = (0, 0)
        self._lock = threading.Lock()
        self._full_since: float | None = None
        forks.hold(self)

    def append(self, entry: Mapping[str, Any]) -> str | None:
        """Write one line; a failure is returned in words, because a log must not fail a command."""
        line = encoded(entry)
        # One thread must not close the descriptor that another is about to write to.
        with self._lock:
            try:
                if not self._answers:
                    place = files(self._state_dir)
                    return self._turned_over(place.call(_append, self._path, line, self._cap))
                fd, size = self._opened()
                write_line(fd, line)
                if size + len(line) > self._cap:
                    moved = _turn_over(self._path, fd)
                    # By now its path may name a fresh one.
                    self.close()
                    return self._turned_over(moved)
            except OSError as error:
                self.close()
                return f"{FAILURE}: {error.strerror}"
        return None

    def _opened(self) -> tuple[int, int]:
        """Return the descriptor and the size of the log."""
        if self._fd is not None:
            # A host that closes all descriptors may have given this number to a file of its own.
            with contextlib.suppress(OSError):
                state = os.fstat(self._fd)
                if (state.st_dev, state.st_ino) == self._identity:
                    if state.st_nlink:
                        return self._fd, state.st_size
                    # The log was removed, or the whole state directory: it begins anew.
                    os.close(self._fd)
            self._fd = None
        self._fd = open_log(self._path)
        state = os.fstat(self._fd)
        self._identity = (state.st_dev, state.st_ino)
        return self._fd, state.st_size

    def drop(self, *, close: bool) -> None:
        """Start anew in a fork, where the thread that may hold the lock does not exist."""
        self._lock = threading.Lock()
        if close:
            self.close()
        self._fd = None

    def _turned_over(self, moved: bool) -> str | None:
        """Return a notice when a full log has stayed in its place for long."""
        if moved:
            self._full_since = None
            return None
        now = time.monotonic()
        if self._full_since is None:
            self._full_since = now
        if now - self._full_since < LOCK_SECONDS:
            return None
        return "the audit log is full and is not turned over: another process, which may be stopped, holds its lock"

    def close(self) -> None:
        fd, self._fd = self._fd, None
        if fd is not None and forks.is_same(fd, self._identity):
            os.close(fd)


def _append(path: str, line: bytes, cap_bytes: int) -> bool:
    """Write one line; False when the log is over its cap and could not be moved aside."""
    fd = open_log(path)
    try:
        write_line(fd, line)
        return os.fstat(fd).st_size <= cap_bytes or _turn_over(path, fd)
    finally:
        os.close(fd)


def _turn_over(path: str, fd: int) -> bool:
    """Move the full log aside; of several nacres that find it full only one does, or a fresh log would replace it.

    False when another process holds the lock: it is not waited for, because that process may be stopped.
    """
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    with contextlib.suppress(FileNotFoundError):
        if os.path.samestat(os.stat(path), os.fstat(fd)):
            os.replace(path, f"{path}.1")
    return True


def entries(state_dir: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """Return the calls, oldest first; a damaged line is skipped, as it can only be half of a write that was cut off.

    Raises:
        NacreError: the log cannot be read.
    """
    directory = os.path.abspath(state_dir)
    log = os.path.join(directory, NAME)
    try:
        for line in _lines(log) if answers(directory) else survey(directory, _all_lines, log):
            entry = _decode(line)
            if entry is not None:
                yield entry
    except OSError as error:
        reason = error.strerror if isinstance(error, NacreError) else reason_of(error.errno or 0)
        raise NacreError(
            f"the log {log} cannot be read: {reason}; set NACRE_HOME to a directory that can be used"
        ) from error


def _lines(log: str) -> Iterator[str]:
    for path in (f"{log}.1", log):
        with (
            contextlib.suppress(FileNotFoundError),
            open(path, encoding="ascii", errors="replace", opener=open_for_reading) as file,
        ):
            yield from file


def _all_lines(log: str) -> list[str]:
    return list(_lines(log))


def _decode(line: str) -> dict[str, Any] | None:
    # A write that a full disk cut off is followed by the next entry in the same line; quotes within one are escaped.
    for text in (line, line[max(0, line.rfind('{"time":')) :]):
        with contextlib.suppress(ValueError):
            entry = json.loads(text)
            return entry if isinstance(entry, dict) else None
    return None
