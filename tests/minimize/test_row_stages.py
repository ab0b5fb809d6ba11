"""What each stage does to rows."""

from __future__ import annotations

import pytest

from nacre.minimize.evidence import detectors, mark_evidence
from nacre.minimize.listings import directories, matches
from nacre.minimize.row_stages import MOST_ALIKE, MOST_CERTAIN, drop_rules, fold_repeats, fold_runs, python_frames
from nacre.minimize.rows import Row, hidden_kinds, render, rows_of


def _marked(text: str) -> list[Row]:
    rows = rows_of(text)
    mark_evidence(rows, text, detectors())
    return rows


def test_repeats_are_counted_and_rare_rows_stay() -> None:
    rows = _marked("\n".join(["config read", *(f"probe {number} ok" for number in range(9)), "reload done"]))
    fold_repeats(rows)
    assert render(rows) == "config read\nprobe 0 ok (×9)\nreload done"
    assert hidden_kinds(rows).total() == 8


def test_a_failed_answer_does_not_count_as_a_repeat_of_a_good_one() -> None:
    lines = [f"GET /cart/{number} 200 3ms" for number in range(50)]
    lines[20] = "GET /cart/20 503 3ms"
    lines[30] = "GET /cart/30 404 3ms"
    rows = _marked("\n".join(lines))
    fold_repeats(rows)
    assert render(rows) == "GET /cart/0 200 3ms (×48)\nGET /cart/20 503 3ms\nGET /cart/30 404 3ms"


@pytest.mark.parametrize(
    ("line", "most"), [("order {} failed", MOST_ALIKE), ("FAILED tests/test_a.py::test_{}", MOST_CERTAIN)]
)
def test_of_errors_that_differ_in_numbers_many_are_shown_and_the_rest_counted(line: str, most: int) -> None:
    rows = _marked("\n".join(line.format(number) for number in range(most + 11)))
    fold_repeats(rows)
    shown = render(rows).split("\n")
    assert len(shown) == most
    assert shown[-1] == line.format(most - 1) + " (×12)"


def test_errors_at_other_places_are_not_repeats() -> None:
    text = "\n".join(f"a.c:{number}: error: too few arguments" for number in range(20))
    rows = _marked(text)
    fold_repeats(rows)
    fold_runs(rows)
    assert render(rows) == text


def test_blank_rows_do_not_end_a_run() -> None:
    rows = _marked("\n\n".join(f"checking {number}" for number in range(9)))
    fold_runs(rows)
    assert render(rows) == "checking 0 (×9)"


def test_a_rule_around_a_heading_is_cut() -> None:
    rows = _marked("======== FAILURES ========\n------------\n-- x --")
    drop_rules(rows)
    assert render(rows) == "=== FAILURES ===\n-- x --"


def test_frames_of_libraries_are_hidden_and_own_ones_stay() -> None:
    text = 'Traceback (most recent call last):\n  File "/srv/a.py", line 3, in f\n    g()\n'
    text += '  File "/usr/lib/python3.11/json/x.py", line 9, in g\n    h()\n    ^^^\nValueError: bad'
    rows = _marked(text)
    python_frames(rows)
    assert render(rows).split("\n")[1:] == ['  File "/srv/a.py", line 3, in f', "    g()", "ValueError: bad"]


def test_matches_name_each_directory_and_are_counted() -> None:
    rows = _marked("\n".join(f"{top}/m{number}.py:{number}:error" for top in "abc" for number in range(30)))
    matches(rows)
    shown = render(rows)
    assert all(f"[… 28 more below {top} …]" in shown for top in "abc")
    assert shown.endswith("[90 matches in 90 files]")


def test_matches_in_one_log_are_no_listing() -> None:
    text = "\n".join(f"12:00:{number:02d} failed" for number in range(50))
    rows = _marked(text)
    matches(rows)
    assert render(rows) == text


def test_many_directories_show_the_upper_ones() -> None:
    lines = [".:", *"abcdefgh"]
    for top in "abcdefgh":
        lines += ["", f"./{top}:", *(f"s{number}" for number in range(6))]
        for number in range(6):
            lines += ["", f"./{top}/s{number}:", *(f"file_{one}" for one in range(5))]
    rows = _marked("\n".join(lines))
    directories(rows)
    shown = render(rows)
    assert all(f"./{top}:\ns0\n" in shown for top in "abcdefgh")
    assert shown.count("[… 5 more directories with 25 entries …]") == 8
