"""Which rows are evidence."""

from __future__ import annotations

import pytest

from nacre.minimize.evidence import detectors, mark_evidence
from nacre.minimize.rows import rows_of


def _is_evidence(line: str) -> bool:
    rows = rows_of(f"before\n{line}\nafter")
    mark_evidence(rows, f"before\n{line}\nafter", detectors())
    assert not rows[0].is_evidence
    return rows[1].is_evidence


@pytest.mark.parametrize(
    "line",
    [
        "src/a.c:12:3: error: 'x' undeclared",
        "E   AssertionError: assert 1 == 2",
        "FAILED tests/test_a.py::test_b",
        "panic: runtime error: index out of range",
        "Traceback (most recent call last):",
        "thread 'main' panicked at src/main.rs:5:37:",
        "  × formats 5ms",
        "not ok 3 - adds",
        "CONFLICT (content): Merge conflict in a.py",
        "<<<<<<< HEAD",
        "rsync: permission denied (13)",
        "Out of memory: Killed process 4471",
        "npm warn deprecated glob@7",
        "2 failed, 1 passed in 0.05s",
        '10.0.0.1 - - [x] "GET /cart HTTP/1.1" 503 12',
        "GET /api/cart 502 14ms",
        "level=info status=500 path=/x",
        "E0312 09:00:01 reflector.go:12] watch closed",
        "process exited with code 3",
    ],
)
def test_a_row_that_tells_of_a_fault_is_evidence(line: str) -> None:
    assert _is_evidence(line)


@pytest.mark.parametrize(
    "line",
    [
        "test result: ok. 3 passed; 0 failed; 0 ignored",
        "0 errors, 0 warnings",
        "Compiling error-chain v0.12.4",
        "tests/test_error_paths.py ...",
        "GET /api/cart 200 503ms",
        "found 0 vulnerabilities",
    ],
)
def test_a_row_that_tells_of_none_is_not(line: str) -> None:
    assert not _is_evidence(line)


def test_letters_that_grow_when_lowered_do_not_shift_places() -> None:
    assert _is_evidence("İİİ error: x")


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("a.c:12: x", "a.c:12"),
        ('  File "x.py", line 3, in f', 'x.py", line 3'),
        (" --> src/a.rs:1:2", " --> src/a.rs:1:2"),
        ("b.ts(3,5): error", "b.ts(3,"),
        ("make: *** [Makefile:4: all] Error 2", "Makefile:4"),
        ("no place 12:30 here", ""),
    ],
)
def test_the_place_that_a_row_names_is_noted(line: str, place: str) -> None:
    rows = rows_of(f"x\n{line}")
    mark_evidence(rows, f"x\n{line}", detectors())
    assert rows[1].place == place
