"""Writes the table at the end of docs/faults.md: which tests prove which case."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "faults.md"
HEADING = "## Which test proves which case"
INTRODUCTION = """
`python docs/fault_map.py` writes this table; a test compares it with the tests. Tests that need root, a kernel feature
or a part of the system say so when they skip; CI runs as root.

| case | proved by |
|--:|---|
"""
CASES = range(1, 96)


def tests() -> dict[int, list[str]]:
    """Return the tests of each case, by the number in their names."""
    found: dict[int, list[str]] = {}
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        for name, number in re.findall(r"def (test_case_(\d+)_\w+)", file.read_text(encoding="utf-8")):
            found.setdefault(int(number), []).append(f"`{file.relative_to(ROOT / 'tests')}::{name}`")
    return found


def table() -> str:
    found = tests()
    rows = [f"| {case} | {'<br>'.join(found[case])} |\n" for case in CASES]
    return f"{HEADING}\n{INTRODUCTION}{''.join(rows)}"


def page() -> str:
    """Return the page with the table as it should be."""
    text = PAGE.read_text(encoding="utf-8").partition(HEADING)[0].rstrip()
    return f"{text}\n\n{table()}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
