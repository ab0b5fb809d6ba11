"""Follows a file that other processes append to."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

BLOCK_BYTES = 65_536
# How often a file is looked at that has not grown.
LOOK_SECONDS = 0.1


def appended_lines(path: str) -> Iterator[bytes]:
    """Return the lines that are appended from now on, without an end; a file that takes its place is read from its top.

    The file is opened at once, so that no line is missed between two looks of the caller.
    """
    fd = _opened(path)
    if fd is not None:
        os.lseek(fd, 0, os.SEEK_END)
    return _lines(path, fd)


def _lines(path: str, fd: int | None) -> Iterator[bytes]:
    rest = b""
    try:
        while True:
            current = fd is not None and _is_at(path, fd)
            # Read after that look: what was written before the file was moved aside is not missed.
            block = b"" if fd is None else os.read(fd, BLOCK_BYTES)
            *lines, rest = (rest + block).split(b"\n")
            yield from lines
            if block:
                continue
            if not current:
                if fd is not None:
                    os.close(fd)
                fd, rest = _opened(path), b""
            if fd is None or current:
                time.sleep(LOOK_SECONDS)
    finally:
        if fd is not None:
            os.close(fd)


def _opened(path: str) -> int | None:
    try:
        return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None


def _is_at(path: str, fd: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(fd))
    except FileNotFoundError:
        return False
