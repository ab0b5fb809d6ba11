"""The public surface is what it claims to be."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import nacre


def test_all_is_sorted_and_equals_dir() -> None:
    assert nacre.__all__ == sorted(nacre.__all__) == dir(nacre)


@pytest.mark.parametrize("name", nacre.__all__)
def test_every_name_comes_from_its_home(name: str) -> None:
    home = nacre._HOME_OF[name]
    value = getattr(nacre, name)
    assert value is getattr(importlib.import_module(home), name)
    # A name that is imported from a module which only imports it itself would have two homes.
    assert getattr(value, "__module__", home) in (home, "types")


def test_nothing_is_loaded_that_is_not_promised() -> None:
    assert sorted(nacre._HOME_OF) == nacre.__all__


def test_type_checkers_see_the_same_names() -> None:
    import ast
    from pathlib import Path

    tree = ast.parse(Path(nacre.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {alias.name: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == nacre._HOME_OF


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'nacre' has no attribute 'runn'"):
        _ = nacre.runn  # type: ignore[attr-defined]


def test_importing_nacre_loads_none_of_its_parts() -> None:
    """But the guard of forks, which has to be there before a thread can import anything else."""
    script = "import sys, nacre; print(sorted(name for name in sys.modules if name.startswith('nacre')))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "['nacre', 'nacre.forks']\n"


def test_a_star_import_brings_every_name() -> None:
    script = "from nacre import *; import nacre; print(all(name in globals() for name in nacre.__all__))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_the_version_is_the_package_s() -> None:
    from importlib.metadata import version

    assert nacre.__version__ == version("nacre-shell")
