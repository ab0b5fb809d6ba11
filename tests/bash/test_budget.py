"""The limit of a reading counts its own work, not the wait for a processor."""

from __future__ import annotations

import itertools
import time

import pytest

from nacre.bash import budget as module
from nacre.bash.budget import TimeBudget
from nacre.bash.tree import UnreadableError


def test_work_beyond_the_limit_raises() -> None:
    budget = TimeBudget(0.02)

    def work() -> None:
        for _ in itertools.count():
            budget.tick()

    with pytest.raises(UnreadableError, match="the check took too long"):
        work()


def test_a_wait_for_the_processor_is_no_work() -> None:
    budget = TimeBudget(0.02)
    time.sleep(0.1)
    budget.look()


def test_a_reading_that_gets_no_processor_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_WAIT_SECONDS", 0.01)
    budget = TimeBudget(0.02)
    time.sleep(0.1)
    with pytest.raises(UnreadableError):
        budget.look()
