"""A link thread and services that end with the test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.remote.link_thread import links
from remote.sshd import Sshd


@pytest.fixture(autouse=True)
def no_links(no_leaks: None) -> Iterator[None]:
    """Every link is closed with the test; the services at their ends, which end by themselves, are children here."""
    yield
    links.end()


@pytest.fixture
def sshd(tmp_path: Path) -> Iterator[Sshd]:
    with Sshd(tmp_path) as daemon:
        yield daemon
