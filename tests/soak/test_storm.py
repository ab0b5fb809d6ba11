"""The storm itself, small: it ends without a problem, and finds what it is there to find."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from soak.acts import Verdict, judged

STORM = Path(__file__).with_name("storm.py")


@pytest.mark.slow
def test_no_call_of_a_small_storm_hangs_lies_or_leaves_anything() -> None:
    """Two hosts: the first in peace, the second with blows."""
    done = subprocess.run(
        [sys.executable, STORM, "--calls=240", "--host-calls=120", "--seconds=30", "--seed=1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "240 calls in " in done.stdout
    assert done.stdout.startswith("seed 1\n")
    assert "0 problems" in done.stdout


@pytest.mark.parametrize(
    ("text", "code", "verdict"),
    [
        ("t1\n", 3, Verdict("x")),
        ("", 0, Verdict("x", problem="success was claimed for exit code 3: ''")),
        ("", 3, Verdict("x", problem="its output is not whole: ''")),
        ("t1\n", 137, Verdict("x", deviation="exit code 137 instead of 3: 't1\\n'")),
        ("", None, Verdict("x", deviation="exit code None instead of 3: ''")),
    ],
)
def test_a_lie_is_a_problem_and_a_failure_only_where_nothing_disturbed(
    text: str, code: int | None, verdict: Verdict
) -> None:
    assert judged("x", text, code, token="t1", expected=3) == verdict
