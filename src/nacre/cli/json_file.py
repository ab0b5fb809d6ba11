"""Edits a JSON file of another program: the file is replaced atomically, with a backup beside it.

A file that cannot be read without loss is not changed.
"""

from __future__ import annotations

import json
import os
import re
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nacre.errors import ConfigError
from nacre.regular_file import read_regular

# The settings of an editor or agent can be large: some keep their history in them.
MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The content of a file when it was read."""

    path: Path
    """The file, with symbolic links resolved."""
    values: dict[str, Any]
    indent: str
    stamp: tuple[int, int, int] | None
    """Detects later changes; None if there was no file."""


def read(path: Path) -> Content:
    """Read the file; a missing file counts as an empty object.

    Raises:
        ConfigError: the file is not a JSON object that can be written again without loss.
    """
    path = Path(os.path.realpath(path))
    try:
        stamp = _stamp_of(path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", source=str(path)) from error
    if stamp is None:
        return Content(path=path, values={}, indent="  ", stamp=None)
    data = read_regular(str(path), most_bytes=MOST_BYTES)
    try:
        text = data.decode("utf-8-sig")
        values = json.loads(text, object_pairs_hook=_object) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"{path} is not plain JSON ({error}); comments and the like would be lost, so nothing was changed: "
            "add by hand what is printed without --write",
            source=str(path),
        ) from error
    if not isinstance(values, dict):
        raise ConfigError(f"{path} holds no JSON object, so nothing was changed", source=str(path))
    found = re.search(r"^([ \t]+)\"", text, re.MULTILINE)
    return Content(path=path, values=values, indent=found[1] if found else "  ", stamp=stamp)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object; two equal names are an error, because one value would be lost."""
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice!r} is given twice in one object")
    return values


def write(content: Content, values: dict[str, Any]) -> Path | None:
    """Replace the file; return the path of its backup.

    Raises:
        ConfigError: another program has changed the file, or it cannot be written.
    """
    path = content.path
    data = (json.dumps(values, indent=content.indent, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
    temporary = path.with_name(f".{path.name}.nacre-{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        before = None if content.stamp is None else os.stat(path)
        try:
            _write_new(temporary, data, like=before)
            if _stamp_of(path) != content.stamp:
                raise ConfigError(
                    f"{path} was changed by somebody else just now; nothing was changed, try again", source=str(path)
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
