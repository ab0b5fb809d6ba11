"""The choke point of hiding: evidence is shown, or counted by its like, whatever a filter or a stage wants."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.minimize.evidence import detectors, mark_evidence
from nacre.minimize.families import STAGE_NAMES, family_of
from nacre.minimize.minimiser import shorten
from nacre.minimize.rows import Row, restored, rows_of

LINES = [
    "src/a.c:12:3: error: 'x' undeclared",
    "src/a.c:14:3: warning: unused variable 'y'",
    "error[E0308]: mismatched types",
    "E   assert 1 == 2",
    "FAILED tests/test_a.py::test_b",
    "Traceback (most recent call last):",
    '  File "/usr/lib/python3/dist-packages/x.py", line 3, in f',
    "    raise ValueError('x')",
    "ValueError: x",
    "thread 'main' panicked at src/main.rs:5:37:",
    "CONFLICT (content): Merge conflict in a.py",
    "src/a.c:3:1: note: declared here",
    "  7 | error: quoted",
    "/srv/web/b.js",
    "  2:7  error  'f' is not defined  no-undef",
    "  2:9  warning  unused  no-unused-vars",
    "tests/test_a.py::test_error PASSED [ 50%]",
    "ok 3 - handles an error",
    "=== test session ===",
    "probe 1 ok",
    "probe 2 ok",
    "",
]
ALL = """
name = 'all'
commands = ['all']
stages = {stages}
[[noise]]
kind = 'rows'
rows = ['']
overrides = {overrides}
"""


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


@given(
    lines=st.lists(st.sampled_from(LINES), min_size=1, max_size=60),
    stages=st.lists(st.sampled_from(sorted(STAGE_NAMES - {"matches"})), unique=True),
    overrides=st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_a_filter_that_calls_everything_noise_hides_no_evidence(
    lines: list[str], stages: list[str], overrides: bool
) -> None:
    text = "\n".join(lines)
    family = family_of(ALL.format(stages=stages, overrides=str(overrides).lower()), "all.toml")
    found = shorten("all", 1, text, [family])
    rows = rows_of(text)
    mark_evidence(rows, text, detectors())
    wanted = {_plain(row.raw) for row in rows if (row.is_certain if overrides else row.is_evidence and not row.place)}
    shown = {_plain(re.sub(r" \(×\d+\)$", "", line)) for line in (text if found is None else found.text).split("\n")}
    if not overrides:
        # These two stages know frames and quoted source.
        wanted -= {_plain(line) for line in ("  7 | error: quoted", "    raise ValueError('x')")}
    # The rest of a diagnostic may stand below the name of its file.
    assert {one for one in wanted if one not in shown and re.sub(r"^\S+?:(?=\d)", "", one) not in shown} == set()


@pytest.mark.parametrize("is_certain", [False, True])
def test_who_knows_a_row_may_hide_it_unless_a_detector_is_certain(is_certain: bool) -> None:
    row = Row("x", is_evidence=True, is_certain=is_certain)
    assert not row.hide("rows")
    assert row.hide_known("rows") is not is_certain
    assert restored([row]) == 0


def test_evidence_that_a_hidden_row_stands_for_is_shown_again() -> None:
    first, second = Row("x", is_evidence=True), Row("x", is_evidence=True)
    second.fold_into(first, "repeats")
    assert (first.times, second.hidden) == (2, "repeats")
    assert restored([first, second]) == 0
    first.hide_known("rows")
    assert restored([first, second]) == 1
    assert not second.hidden
