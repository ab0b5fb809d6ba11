"""The present code answers the recorded requests as the code did that made the recording.

`answers.json` was recorded before the run body was made one. `make record` records it anew, for a change that users are
meant to see and that is too large for `CHANGED`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from recorded import player

RECORDED: dict[str, player.Answers] = json.loads(player.ANSWERS.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Change:
    """A difference from the recording that users are meant to see."""

    decision: str
    """The decision in docs/contracts.md that asks for it."""
    was: str
    """A piece of the recorded answer, as JSON."""
    now: str


# By the label of the request.
CHANGED: dict[str, Change] = {}


def play(group: str) -> player.Answers:
    """Play a group in a process of its own, as it was recorded."""
    done = subprocess.run(
        [sys.executable, "-m", "recorded.player", group],
        cwd=Path(__file__).parents[1],
        env={**os.environ, "NACRE_SNAPSHOT": "false"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers: player.Answers = json.loads(done.stdout)
    return answers


def expected(label: str, recorded: Any) -> Any:
    text = json.dumps(recorded, ensure_ascii=False)
    if label in CHANGED:
        change = CHANGED[label]
        assert change.was in text, f"{label}: the recording does not hold what {change.decision} changes"
        text = text.replace(change.was, change.now)
    # The masks of today are applied to the recording too, so that a mask can be added without recording anew.
    return player.Mask({})(json.loads(text))


@pytest.mark.slow
# The command line alone starts 68 programs, one after the other.
@pytest.mark.timeout(180)
@pytest.mark.parametrize("group", list(player.groups()))
def test_answers_are_as_recorded(group: str) -> None:
    answers = play(group)
    assert answers.keys() == RECORDED[group].keys()
    for label, answer in answers.items():
        assert answer == expected(label, RECORDED[group][label]), label


def test_the_recording_covers_every_contract_and_verb() -> None:
    assert RECORDED.keys() == set(player.groups())
    assert sum(map(len, RECORDED.values())) >= 300


def test_every_stated_change_names_a_recorded_request() -> None:
    labels = {label for answers in RECORDED.values() for label in answers}
    assert CHANGED.keys() <= labels
    assert all(change.decision.startswith(("D", "P")) for change in CHANGED.values())
