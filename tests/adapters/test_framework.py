"""An adapter whose framework is missing names the extra to install."""

from __future__ import annotations

import importlib
import importlib.util
import tomllib
from pathlib import Path

import pytest

from nacre.adapters.framework import FrameworkMissingError, framework

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
# Module of the adapter → what it imports first.
ADAPTERS = {
    "anthropic": "anthropic",
    "harbor": "harbor",
    "inspect_ai": "inspect_ai",
    "langchain": "langchain_core",
    "openai_agents": "agents",
    "pydantic_ai": "pydantic_ai",
    "smolagents": "smolagents",
    "swe_rex": "swerex",
    "verifiers": "verifiers",
}


@pytest.mark.parametrize(("adapter", "package"), ADAPTERS.items())
def test_a_missing_framework_is_an_error_with_the_extra(adapter: str, package: str) -> None:
    if importlib.util.find_spec(package) is not None:
        pytest.skip(f"{package} is installed here")
    with pytest.raises(FrameworkMissingError) as caught:
        importlib.import_module(f"nacre.adapters.{adapter}")
    extra = adapter.replace("_", "-")
    assert caught.value.name == package
    assert str(caught.value) == (
        f"nacre.adapters.{adapter} needs the package {package}, which is not installed; "
        f"pip install 'nacre-shell[{extra}]'"
    )
    assert extra in tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]


def test_what_the_framework_has_and_nacre_lacks_is_not_blamed_on_it() -> None:
    with pytest.raises(ModuleNotFoundError) as caught, framework("harbor"):
        importlib.import_module("nacre.no_such_module")
    assert not isinstance(caught.value, FrameworkMissingError)
