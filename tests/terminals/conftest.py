"""A terminal for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from terminals.tmux import Tmux


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    with Tmux(tmp_path) as server:
        yield server
