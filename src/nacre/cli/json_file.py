"""Edits a JSON file of another program. A file that cannot be read without loss is not changed."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nacre.cli import foreign_file
from nacre.cli.foreign_file import ForeignFile
from nacre.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The content of a file when it was read."""

    file: ForeignFile
    values: dict[str, Any]
    indent: str

    @property
    def path(self) -> Path:
        return self.file.path


def read(path: Path) -> Content:
    """Read the file; a missing file counts as an empty object.

    Raises:
        ConfigError: the file is not a JSON object that can be written again without loss.
    """
    file = foreign_file.read(path)
    try:
        text = file.data.decode("utf-8-sig")
        values = json.loads(text, object_pairs_hook=_object) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"{file.path} is not plain JSON ({error}); comments and the like would be lost, so nothing was changed: "
            "add by hand what is printed without --write",
            source=str(file.path),
        ) from error
    if not isinstance(values, dict):
        raise ConfigError(f"{file.path} holds no JSON object, so nothing was changed", source=str(file.path))
    found = re.search(r"^([ \t]+)\"", text, re.MULTILINE)
    return Content(file=file, values=values, indent=found[1] if found else "  ")


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
    text = json.dumps(values, indent=content.indent, ensure_ascii=False) + "\n"
    return foreign_file.replace(content.file, text.encode("utf-8", "backslashreplace"))
