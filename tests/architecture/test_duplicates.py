"""No block of six equal lines of code stands in two places: the second copy is the moment to move it."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "nacre"
BLOCK = 6


def code_lines(path: Path) -> list[tuple[int, str]]:
    """The lines of code with their numbers, without blank ones, comments, docstrings, imports and signatures."""
    text = path.read_text(encoding="utf-8")
    skipped: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text or isinstance(node, ast.Import | ast.ImportFrom):
            assert isinstance(node, ast.stmt)
            skipped.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            skipped.update(range(node.lineno + 1, node.body[0].lineno))
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if number not in skipped)
    return [(number, line) for number, line in lines if line and not line.startswith("#")]


def test_no_block_of_equal_lines_stands_in_two_places() -> None:
    places: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        lines = code_lines(path)
        for at in range(len(lines) - BLOCK + 1):
            block = tuple(line for _, line in lines[at : at + BLOCK])
            places[block].append(f"{path.relative_to(SOURCE)}:{lines[at][0]}")
    found = {block: where for block, where in places.items() if len(where) > 1}
    assert not found, "\n\n".join(f"{' and '.join(where)}\n  " + "\n  ".join(block) for block, where in found.items())
