"""Directories with an id each (`undo_3`, `try_1`) below one root; their files are replaced as a whole."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

FACTS = "entry.json"


def allot(root: str, prefix: str) -> str:
    """Make the directory of the next id, and return it. Raises OSError."""
    os.makedirs(root, mode=0o700, exist_ok=True)
    number = max(numbers_in(root, prefix), default=0)
    while True:
        number += 1
        directory = os.path.join(root, f"{prefix}{number}")
        try:
            os.mkdir(directory, 0o700)
        except FileExistsError:
            continue
        return directory


def numbers_in(root: str, prefix: str) -> list[int]:
    """Return the numbers of the ids that exist, in order."""
    try:
        names = os.listdir(root)
    except FileNotFoundError:
        return []
    return sorted(int(name.removeprefix(prefix)) for name in names if is_id(name, prefix))


def is_id(name: str, prefix: str) -> bool:
    return re.fullmatch(rf"{prefix}[1-9][0-9]{{0,9}}", name) is not None


def read_facts(directory: str) -> dict[str, Any] | None:
    """Return the facts of an entry; None if another program makes or removes it right now."""
    try:
        with open(os.path.join(directory, FACTS), encoding="ascii") as file:
            facts: dict[str, Any] = json.loads(file.readline())
    except (OSError, ValueError):
        return None
    return facts


def write_rows(directory: str, name: str, rows: Iterable[Any]) -> None:
    """Replace a file of an entry, one JSON value a line."""
    path = os.path.join(directory, name)
    with open(f"{path}.new", "w", encoding="ascii") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
    os.replace(f"{path}.new", path)


def read_rows(directory: str, name: str) -> Iterator[Any]:
    """Yield the values of a file of an entry; raises OSError or ValueError."""
    with open(os.path.join(directory, name), encoding="ascii") as file:
        for line in file:
            yield json.loads(line)
