"""Stages for listings: paths, matches, and directories with their entries. Each place is named, what is left out counted."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping

from nacre.minimize.rows import Row, visible

# Shorter listings are shown whole.
LEAST_ROWS = 30
# Directories or files that are shown with samples; of more, the upper directories are.
MOST_GROUPS = 40
SAMPLES = 2

_MATCH = re.compile(r"^(?P<path>[^\s:][^:\n]*?)(?::(?P<line>\d+))?:(?P<text>.*)$")
_HEADING = re.compile(r"^(\S.*):$")


def _sample(groups: Mapping[str, list[Row]], kind: str, *, samples: int, where: str) -> None:
    for name, members in groups.items():
        hidden = [row for row in members[samples:] if row.hide(kind)]
        if hidden:
            hidden[-1].marker = f"[… {len(hidden)} more {where} {name} …]"


def _grouped(rows: list[Row], key: Callable[[str], str]) -> OrderedDict[str, list[Row]]:
    groups: OrderedDict[str, list[Row]] = OrderedDict()
    for row in rows:
        groups.setdefault(key(row.raw.strip()), []).append(row)
    return groups


def _upper(path: str, levels: int) -> str:
    parts = path.removeprefix("./").split("/")
    return "/".join(parts[:levels]) if len(parts) > levels else "/".join(parts[:-1]) or "."


def paths(rows: list[Row]) -> None:
    """Of a list of paths show some of each directory."""
    listed = [row for row in visible(rows) if "/" in row.raw and not row.is_evidence and " " not in row.raw.strip()]
    listed = [row for row in listed if not row.raw.endswith(":")]
    if len(listed) < LEAST_ROWS:
        return
    for levels in (8, 3, 2, 1):
        groups = _grouped(listed, lambda path: _upper(path, levels))
        if len(groups) <= MOST_GROUPS:
            break
    _sample(groups, "paths", samples=1 if len(groups) > MOST_GROUPS // 2 else SAMPLES, where="in")


def matches(rows: list[Row]) -> None:
    """Of the matches of a search show some of each file, spread over all directories."""
    found = [row for row in visible(rows) if _MATCH.match(row.raw)]
    if len(found) < LEAST_ROWS:
        return
    for row in found:
        # A position is what a search prints; it is no diagnostic.
        row.is_evidence = False
    files = _grouped(found, lambda line: line.split(":", 1)[0])
    total = f"[{len(found)} matches in {len(files)} files; not all are shown]"
    if len(files) <= MOST_GROUPS:
        _sample(files, "matches", samples=SAMPLES, where="in")
    else:
        for levels in (3, 2, 1):
            groups = _grouped(found, lambda line: _upper(line.split(":", 1)[0], levels))
            if len(groups) <= MOST_GROUPS:
                break
        _sample(groups, "matches", samples=SAMPLES, where="below")
    found[0].marker = total if not found[0].marker else found[0].marker


def directories(rows: list[Row]) -> None:
    """Of `ls -R` show each directory with its first entries."""
    blocks: list[tuple[Row, list[Row]]] = []
    for row in visible(rows):
        if _HEADING.match(row.raw) and (not blocks or "/" in row.raw or row.raw.startswith(".")):
            blocks.append((row, []))
        elif blocks and row.raw.strip():
            blocks[-1][1].append(row)
    if sum(len(entries) for _, entries in blocks) < LEAST_ROWS or len(blocks) < 2:
        return
    samples = SAMPLES if len(blocks) <= MOST_GROUPS else 1
    for number, (_, entries) in enumerate(blocks):
        # The first block names what everything else is below.
        limit = 40 if number == 0 else samples
        hidden = [row for row in entries[limit:] if row.hide("entries")]
        if hidden:
            hidden[-1].marker = f"[… {len(hidden)} more entries …]"


LISTINGS: Mapping[str, Callable[[list[Row]], None]] = {"paths": paths, "matches": matches, "directories": directories}
