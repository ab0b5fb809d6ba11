"""Reads a file that the settings, the environment or a project name: a regular one, of a bounded size, without waiting.

A FIFO in its place would wait for a writer, and opening a device can do harm; neither is ever opened.
"""

from __future__ import annotations

import os
import stat

from nacre.errors import ConfigError, reason_of

MOST_BYTES = 1024 * 1024

_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISBLK, "a block device"),
    (stat.S_ISCHR, "a character device"),
)


def read_regular(path: str, *, most_bytes: int = MOST_BYTES) -> bytes:
    """The file's content.

    Raises:
        ConfigError: it cannot be read, is no regular file or is too large; the message names it and says which.
    """
    try:
        _check(path, os.stat(path), most_bytes)
        # Should a FIFO have taken its place since, this returns at once all the same.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        with open(fd, "rb") as file:
            _check(path, os.fstat(fd), most_bytes)
            data = file.read(most_bytes + 1)
    except OSError as error:
        reason = reason_of(error.errno) if error.errno is not None else str(error)
        raise ConfigError(f"{path} cannot be read: {reason}; correct its name or its rights", source=path) from error
    except ValueError as error:
        raise ConfigError(f"{path!r} cannot be the name of a file: {error}", source=path) from error
    if len(data) > most_bytes:
        raise _too_large(path, most_bytes)
    return data


def read_regular_text(path: str, *, most_bytes: int = MOST_BYTES) -> str:
    """The file's content as text, which is UTF-8; raises as `read_regular` does."""
    data = read_regular(path, most_bytes=most_bytes)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{path}:{line}: it is not UTF-8 text (byte 0x{data[error.start]:02x}); save it as UTF-8", source=path
        ) from error


def _check(path: str, found: os.stat_result, most_bytes: int) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = next((words for is_kind, words in _KINDS if is_kind(found.st_mode)), "something else")
        raise ConfigError(f"{path} is {kind}; put a regular file there, or take it away", source=path)
    if found.st_size > most_bytes:
        raise _too_large(path, most_bytes)


def _too_large(path: str, most_bytes: int) -> ConfigError:
    return ConfigError(f"{path} is larger than {most_bytes} bytes, which no file of this kind needs", source=path)
