"""The tests of an adapter are collected where its framework is installed: see run.py."""

from __future__ import annotations

import importlib.util
import socket
from pathlib import Path
from typing import Any, NoReturn

import pytest

# Name of the adapter's tests → what they import.
LIBRARIES = {
    "anthropic": "anthropic",
    "harbor": "harbor",
    "inspect_ai": "inspect_ai",
    "langchain": "langchain",
    "openai_agents": "agents",
    "pydantic_ai": "pydantic_ai",
    "smolagents": "smolagents",
    "swe_rex": "swerex",
    "verifiers": "verifiers",
}

collect_ignore = [f"test_{name}.py" for name, library in LIBRARIES.items() if importlib.util.find_spec(library) is None]


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shells of the frameworks read no rc of the machine's, which may take its time."""
    directory = tmp_path / "home"
    directory.mkdir()
    monkeypatch.setenv("HOME", str(directory))


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A framework that reports or looks up something fails the test."""

    def refuse(host: object, *_: Any, **__: Any) -> NoReturn:
        raise AssertionError(f"a test asked for the address of {host!r}")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
