"""Adds a table to a TOML file of another program: the text is appended, so that comments and layout stay."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from nacre.cli import foreign_file
from nacre.cli.foreign_file import ForeignFile
from nacre.errors import ConfigError


def table_text(key: str, name: str, entry: dict[str, Any]) -> str:
    """Return the table `[key.name]`; its values are texts and lists of texts, which TOML writes as JSON does."""
    lines = [f"[{key}.{name}]", *(f"{field} = {json.dumps(value)}" for field, value in entry.items())]
    return "\n".join(lines) + "\n"


def read(path: Path) -> tuple[ForeignFile, dict[str, Any]]:
    """Read the file and its values; a missing file is empty.

    Raises:
        ConfigError: the file is not TOML.
    """
    file = foreign_file.read(path)
    return file, _values(file.path, file.data)


def append_table(file: ForeignFile, key: str, name: str, entry: dict[str, Any]) -> Path | None:
    """Append the table; return the path of the backup.

    Raises:
        ConfigError: the file cannot take a further table, or cannot be written.
    """
    before = file.data.rstrip(b"\n")
    data = (before + b"\n\n" if before else b"") + table_text(key, name, entry).encode()
    values = _values(file.path, file.data)
    values[key] = values.get(key, {}) | {name: entry}
    try:
        same = tomllib.loads(data.decode()) == values
    except ValueError:
        same = False
    if not same:
        raise ConfigError(
            f"{file.path}: {key!r} is written in a form that no table can be added to, so nothing was changed: "
            "add by hand what is printed without --write",
            source=str(file.path),
        )
    return foreign_file.replace(file, data)


def _values(path: Path, data: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(data.decode("utf-8"))
    except ValueError as error:
        raise ConfigError(f"{path} is not valid TOML ({error}), so nothing was changed", source=str(path)) from error
