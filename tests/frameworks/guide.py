"""The examples of the guide, run as they are printed: with a scripted model in place of a real one."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "frameworks.md"


async def run_example(title: str, **names: Any) -> dict[str, Any]:
    """Run the first example under a heading with these names at hand; returns all names that it then has."""
    section = GUIDE.read_text(encoding="utf-8").split(f"\n## {title}\n", 1)[1]
    found = re.search(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert found is not None
    code = compile(found.group(1), f"{GUIDE.name}: {title}", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    running = eval(code, names)
    if inspect.iscoroutine(running):
        await running
    return names
