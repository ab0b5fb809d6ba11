"""Stages for listings: paths, matches, and directories with their entries. What is left out is counted."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from nacre.minimize.rows import Row, visible

# Shorter listings are shown whole.
LEAST_ROWS = 30
# The most directories or files that are shown with samples; beyond, the upper directories are.
MOST_GROUPS = 40
SAMPLES = 2
# Entries of the directory that was listed itself, and of an upper directory.
MOST_ENTRIES = 60
MOST_NAMES = 8
# A longer match is cut.
MOST_CHARACTERS = 200

_MATCH = re.compile(r"^(?=[^\s:]*[A-Za-z_])(?=[^\s:]*[/.])[^\s:]++:")
_HEADING = re.compile(r"^(\S.*):$")


def paths(rows: list[Row]) -> None:
    """Of a list of paths show some of each directory."""
    listed = [row for row in visible(rows) if "/" in row.raw and not row.is_evidence and " " not in row.raw.strip()]
    listed = [row for row in listed if not row.raw.endswith(":")]
    if len(listed) < LEAST_ROWS:
        return
    groups = _by_directory(listed, str.strip, (8, 3, 2, 1))
    _sample(groups, "paths", samples=1 if len(groups) > MOST_GROUPS // 2 else SAMPLES, where="in")


def matches(rows: list[Row]) -> None:
    """Of the matches of a search show some of each file; of many files, some of each directory."""
    found = [row for row in visible(rows) if _MATCH.match(row.raw)]
    if len(found) < LEAST_ROWS:
        return
    files = {_file(row.raw) for row in found}
    for row in found:
        # What a search finds is no diagnostic.
        row.is_evidence = row.is_certain = row.stays = False
        if len(row.raw) > MOST_CHARACTERS:
            row.shown = row.raw[:MOST_CHARACTERS] + "…"
    if len(files) <= MOST_GROUPS:
        _sample(_grouped(found, _file), "matches", samples=SAMPLES, where="in")
    else:
        _sample(_by_directory(found, _file, (3, 2, 1)), "matches", samples=SAMPLES, where="below")
    found[-1].marker += f"\n[{len(found)} matches in {len(files)} files]" if found[-1].marker else ""


def directories(rows: list[Row]) -> None:
    """Show each directory of `ls -R` with its first entries; the upper ones of many directories."""
    blocks = _blocks(rows)
    if sum(len(block) - 1 for block in blocks) < LEAST_ROWS or len(blocks) < 2:
        return
    deepest = _shown_depth([block[0].raw for block in blocks])
    below: list[list[Row]] = []
    shows_sample = True
    for number, (heading, *entries) in enumerate(blocks):
        is_upper = heading.raw.count("/") <= deepest
        if is_upper or shows_sample:
            _mark_below(below)
            below = []
            # The listed directory is shown whole; the first directory below an upper one is a sample.
            _show_first(entries, MOST_ENTRIES if number == 0 else MOST_NAMES if is_upper else SAMPLES)
            shows_sample = is_upper
        else:
            below.append([heading, *entries])
    _mark_below(below)


def _blocks(rows: list[Row]) -> list[list[Row]]:
    """Directories with their entries: the heading first."""
    blocks: list[list[Row]] = []
    for row in visible(rows):
        if _HEADING.match(row.raw) and (not blocks or "/" in row.raw or row.raw.startswith(".")):
            blocks.append([row])
        elif blocks and row.raw.strip():
            blocks[-1].append(row)
    return blocks


def _show_first(entries: list[Row], count: int) -> None:
    if hidden := [row for row in entries[count:] if row.hide("entries")]:
        hidden[-1].marker = f"[… {len(hidden)} more entries …]"


def _mark_below(blocks: list[list[Row]]) -> None:
    if hidden := [row for block in blocks for row in block if row.hide("entries")]:
        entries = sum(len(block) - 1 for block in blocks)
        hidden[-1].marker = f"[… {len(blocks)} more directories with {entries} entries …]"


def _shown_depth(headings: list[str]) -> int:
    """How deep the directories are that are shown: so many that there are not too many of them."""
    depths = [heading.count("/") for heading in headings]
    depth = max(depths)
    while depth > min(depths) + 1 and sum(one <= depth for one in depths) > MOST_GROUPS:
        depth -= 1
    return depth


def _sample(groups: Mapping[str, list[Row]], kind: str, *, samples: int, where: str) -> None:
    for name, members in groups.items():
        hidden = [row for row in members[samples:] if row.hide(kind)]
        if hidden:
            hidden[-1].marker = f"[… {len(hidden)} more {where} {name} …]"


def _grouped(rows: list[Row], key: Callable[[str], str]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row.raw), []).append(row)
    return groups


def _by_directory(rows: list[Row], path: Callable[[str], str], levels: tuple[int, ...]) -> dict[str, list[Row]]:
    """Rows by the directory of their path, with so many levels that there are not too many groups."""
    folders: dict[str, list[Row]] = {}
    for row in rows:
        folders.setdefault(path(row.raw).rpartition("/")[0], []).append(row)
    for level in levels:
        groups: dict[str, list[Row]] = {}
        for folder, members in folders.items():
            groups.setdefault(_upper(folder, level), []).extend(members)
        if len(groups) <= MOST_GROUPS:
            break
    return groups


def _file(line: str) -> str:
    return line.partition(":")[0]


def _upper(folder: str, levels: int) -> str:
    return "/".join(folder.removeprefix("./").split("/", levels)[:levels]) or "."


LISTINGS: Mapping[str, Callable[[list[Row]], None]] = {"paths": paths, "matches": matches, "directories": directories}
