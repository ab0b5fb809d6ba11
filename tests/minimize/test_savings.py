"""What the audit log says about savings and regret."""

from __future__ import annotations

from typing import Any

import pytest

from nacre.minimize.savings import count_savings


def entry(command: str, at: float, artifact: int | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {"time": at, "command": command, "outcome": "exited"}
    if artifact is not None:
        found["minimized"] = {"filter": "pytest", "rawBytes": 4000, "shownBytes": 400, "artifactId": str(artifact)}
    return found


def test_savings_are_added_up_by_command_filter_and_day() -> None:
    found = count_savings([entry("cd /srv && pytest -q", 0.0, 1), entry("ls", 10.0), entry("uv run x", 86400.0 * 3, 2)])
    assert (found.calls, found.total.calls, found.total.tokens) == (3, 2, 1800)
    assert found.total.percent == 90
    assert set(found.by_command) == {"pytest", "uv run"}
    assert found.by_filter["pytest"].calls == 2
    assert len(found.by_day) == 2


@pytest.mark.parametrize(
    ("later", "regrets"),
    [
        ([entry("pytest", 119.0)], 1),
        ([entry("pytest", 121.0)], 0),
        ([entry("pytest -x", 5.0)], 0),
        ([entry("cat artifact://7 | grep x", 5000.0)], 1),
        ([entry("cat artifact://70", 5.0)], 0),
        ([entry("cat /state/artifacts/7.bash-original.log", 5.0)], 1),
        ([entry("pytest", 5.0), entry("cat artifact://7", 6.0)], 1),
    ],
)
def test_the_same_command_soon_or_its_artifact_opened_is_regret(later: list[dict[str, Any]], regrets: int) -> None:
    found = count_savings([entry("pytest", 0.0, 7), *later])
    assert found.total.regrets == regrets
    assert found.by_command["pytest"].regrets == regrets


def test_an_empty_log_saved_nothing() -> None:
    found = count_savings([])
    assert (found.calls, found.total.tokens, found.total.percent) == (0, 0, 0)


def test_what_a_companion_tool_opened_is_regret_once() -> None:
    found = count_savings(
        [entry("pytest", 0.0, 7), entry("cat artifact://7", 500.0), entry("mypy", 600.0, 8)], {"7", "9"}
    )
    assert found.total.regrets == 1
    assert found.by_command["pytest"].regrets == 1


def test_both_streams_of_a_call_are_counted() -> None:
    both = entry("make", 0.0, 7) | {"minimizedStderr": entry("make", 0.0, 8)["minimized"]}
    assert count_savings([both]).total.raw_bytes == 8000
