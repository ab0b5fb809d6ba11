"""A file of another program: read whole, and replaced atomically with a backup beside it."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from nacre.errors import ConfigError
from nacre.regular_file import read_regular

# The settings of an editor or agent can be large: some keep their history in them.
MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignFile:
    """A file when it was read."""

    path: Path
    """The file, with symbolic links resolved."""
    data: bytes
    stamp: tuple[int, int, int] | None
    """Detects later changes; None if there was no file."""


def read(path: Path) -> ForeignFile:
    """Read the file; a missing file is empty.

    Raises:
        ConfigError: the file cannot be read.
    """
    path = Path(os.path.realpath(path))
    try:
        stamp = _stamp_of(path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", source=str(path)) from error
    data = b"" if stamp is None else read_regular(str(path), most_bytes=MOST_BYTES)
    return ForeignFile(path=path, data=data, stamp=stamp)


def replace(file: ForeignFile, data: bytes) -> Path | None:
    """Replace the file; return the path of its backup.

    Raises:
        ConfigError: another program has changed the file, or it cannot be written.
    """
    path = file.path
    temporary = path.with_name(f".{path.name}.nacre-{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        before = None if file.stamp is None else os.stat(path)
        try:
            _write_new(temporary, data, like=before)
            if _stamp_of(path) != file.stamp:
                raise ConfigError(
                    f"{path} was changed by another program just now; nothing was changed, try again", source=str(path)
                )
            backup = None if before is None else _keep(path, before)
            os.replace(temporary, path)
        finally:
            # After a success it has become the file.
            with suppress(FileNotFoundError):
                os.unlink(temporary)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}", source=str(path)) from error
    return backup


def _keep(path: Path, before: os.stat_result) -> Path:
    """Copy the file beside itself under a free name."""
    data = path.read_bytes()
    number = 1
    while True:
        backup = path.with_name(f"{path.name}.before-nacre{'' if number == 1 else f'-{number}'}")
        try:
            _write_new(backup, data, like=before)
        except FileExistsError:
            number += 1
        else:
            return backup


def _write_new(path: Path, data: bytes, *, like: os.stat_result | None) -> None:
    """Create a file, with the owner and permissions of `like`."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    with open(fd, "wb") as file:
        if like is not None:
            os.fchmod(fd, stat.S_IMODE(like.st_mode))
            made = os.fstat(fd)
            if (made.st_uid, made.st_gid) != (like.st_uid, like.st_gid):
                os.fchown(fd, like.st_uid, like.st_gid)
        file.write(data)
        file.flush()
        os.fsync(fd)


def _stamp(found: os.stat_result) -> tuple[int, int, int]:
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def _stamp_of(path: Path) -> tuple[int, int, int] | None:
    try:
        return _stamp(os.stat(path))
    except FileNotFoundError:
        return None
