"""What is due is looked at, in order, and nothing else."""

from __future__ import annotations

from nacre.warden.due_times import DueTimes


def test_only_what_is_due_is_looked_at_in_its_order() -> None:
    due, looked = DueTimes(), []
    for at in (5.0, 1.0, 3.0):
        due.add(at, lambda _, at=at: looked.append(at))  # type: ignore[misc]
    due.look(3.0)
    assert (looked, due.first) == ([1.0, 3.0], 5.0)


def test_a_look_that_is_due_again_is_looked_at_once_in_a_turn() -> None:
    due, looked = DueTimes(), []

    def look(now: float) -> float | None:
        looked.append(now)
        return now if len(looked) < 3 else None

    due.add(1.0, look)
    due.look(2.0)
    assert (looked, due.first) == ([2.0], 2.0)
    due.look(2.0)
    due.look(2.0)
    assert (len(looked), due.first) == (3, None)
