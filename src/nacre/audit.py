"""The audit log: one JSON line for each call, never the content of its output.

Appended with a single write, so lines of several nacres never mix; turned over at a size, so it cannot fill a disk.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import threading
from collections.abc import Iterator, Mapping
from typing import Any

NAME = "log.jsonl"


_encode = json.JSONEncoder(separators=(",", ":")).encode


class AuditLog:
    """The log of one state directory, held open, because every call writes one line."""

    def __init__(self, state_dir: str | os.PathLike[str], *, cap_bytes: int) -> None:
        self._path = os.path.join(state_dir, NAME)
        self._cap = cap_bytes
        self._fd: int | None = None
        self._lock = threading.Lock()

    def append(self, entry: Mapping[str, Any]) -> str | None:
        """Write one line; a failure is returned in words, because a log must not fail a command."""
        line = _encode(entry).encode("ascii") + b"\n"
        # One thread must not close the descriptor that another is about to write to.
        with self._lock:
            try:
                state = self._write(line)
                if state.st_nlink == 0:
                    # Somebody removed the log, or the whole state directory: begin it anew.
                    self.close()
                    state = self._write(line)
                if state.st_size > self._cap and self._fd is not None:
                    _turn_over(self._path, self._fd)
                    self.close()
            except OSError as error:
                self.close()
                return f"the audit log could not be written: {error.strerror}"
        return None

    def _write(self, line: bytes) -> os.stat_result:
        if self._fd is None:
            self._fd = _open(self._path)
        os.write(self._fd, line)
        return os.fstat(self._fd)

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _turn_over(path: str, fd: int) -> None:
    """Move the full log aside; of several nacres that find it full only one does, or a fresh log would replace it."""
    fcntl.flock(fd, fcntl.LOCK_EX)
    with contextlib.suppress(FileNotFoundError):
        if os.path.samestat(os.stat(path), os.fstat(fd)):
            os.replace(path, f"{path}.1")


def _open(path: str) -> int:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        return os.open(path, flags, 0o600)


def entries(state_dir: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """The calls, oldest first; a damaged line is skipped, as it can only be half of a write that was cut off."""
    log = os.path.join(state_dir, NAME)
    for path in (f"{log}.1", log):
        with contextlib.suppress(FileNotFoundError), open(path, encoding="ascii", errors="replace") as file:
            for line in file:
                with contextlib.suppress(ValueError):
                    entry = json.loads(line)
                    if isinstance(entry, dict):
                        yield entry
