"""The audit log: one JSON line for each call, never the content of its output.

Appended with a single write, so lines of several nacres never mix; turned over at a size, so it cannot fill a disk.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

NAME = "log.jsonl"


def append(state_dir: Path, entry: Mapping[str, Any], *, cap_bytes: int) -> str | None:
    """Write one line; a failure is returned in words, because a log must not fail a command."""
    path = state_dir / NAME
    line = json.dumps(entry, separators=(",", ":")).encode("ascii") + b"\n"
    try:
        fd = _open(path)
        try:
            os.write(fd, line)
            if os.fstat(fd).st_size > cap_bytes:
                _turn_over(path, fd)
        finally:
            os.close(fd)
    except OSError as error:
        return f"the audit log could not be written: {error.strerror}"
    return None


def _turn_over(path: Path, fd: int) -> None:
    """Move the full log aside; of several nacres that find it full only one does, or a fresh log would replace it."""
    fcntl.flock(fd, fcntl.LOCK_EX)
    with contextlib.suppress(FileNotFoundError):
        if os.path.samestat(os.stat(path), os.fstat(fd)):
            os.replace(path, path.with_name(f"{NAME}.1"))


def _open(path: Path) -> int:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(path, flags, 0o600)


def entries(state_dir: Path) -> Iterator[dict[str, Any]]:
    """The calls, oldest first; a damaged line is skipped, as it can only be half of a write that was cut off."""
    for name in (f"{NAME}.1", NAME):
        with contextlib.suppress(FileNotFoundError), open(state_dir / name, encoding="ascii", errors="replace") as file:
            for line in file:
                with contextlib.suppress(ValueError):
                    entry = json.loads(line)
                    if isinstance(entry, dict):
                        yield entry
