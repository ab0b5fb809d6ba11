"""Modules and classes stay small, or say why they do not; no two modules have one name."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "nacre"
MODULES = sorted(SOURCE.rglob("*.py"))
MOST_LINES = 350
# About ten: a few more are no reason to divide a class.
MOST_METHODS = 12


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_is_short_or_its_docstring_says_why_not(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lines = text.count("\n")
    reason = f"beyond {MOST_LINES} lines" in " ".join((ast.get_docstring(ast.parse(text)) or "").split())
    assert reason == (lines > MOST_LINES), (
        f"{lines} lines: find the second noun in it and give that a module, or say in its docstring why it is "
        f"'beyond {MOST_LINES} lines' (and only then)"
    )


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_class_has_few_methods_or_its_docstring_says_why_not(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef):
            methods = sum(isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) for one in node.body)
            assert methods <= MOST_METHODS or "method" in (ast.get_docstring(node) or ""), (
                f"{node.name} has {methods} methods: give its second noun a class, or say in its docstring what its "
                "methods have in common"
            )


def test_no_two_modules_have_one_name() -> None:
    names = Counter(path.name for path in SOURCE.rglob("*.py") if not path.name.startswith("__"))
    assert [name for name, count in names.items() if count > 1] == []
