"""The same command again: what is as before is counted, what is new is shown."""

from __future__ import annotations

from pathlib import Path

import nacre
from nacre.minimize.minimiser import minimise
from nacre.minimize.repetition import Remembered, difference, lines_of
from nacre.settings import MinimizerSettings, Settings


def _run(failing: list[int], seconds: str) -> str:
    lines = [f"FAILED tests/test_a.py::test_{n} - assert {n} == {n + 1}" for n in failing]
    return "\n".join([*lines, "see the log", "and the manual", f"{len(failing)} failed in {seconds}s"])


def _last(text: str) -> Remembered:
    lines = lines_of(text)
    assert lines is not None
    return Remembered(lines, 3)


def test_what_is_new_is_shown_and_what_is_as_before_is_counted() -> None:
    before, now = _run(list(range(40)), "0.31"), _run([*range(1, 40), 77], "0.35")
    found = difference(_last(before), now, minimise("pytest", 1, now))
    assert found is not None
    assert found.text.split("\n") == [
        "[as in the last run (artifact://3): 39 lines, 39 of them errors or warnings; no longer said: 1 line; "
        "new or last lines follow]",
        "FAILED tests/test_a.py::test_77 - assert 77 == 78",
        "see the log",
        "and the manual",
        "40 failed in 0.35s",
    ]
    assert found.filter == "differences"


def test_another_value_is_a_difference_and_another_time_is_none() -> None:
    before = _run(list(range(40)), "0.31")
    now = before.replace("assert 5 == 6", "assert 5 == 7").replace("0.31", "0.99")
    found = difference(_last(before), now, None)
    assert found is not None
    assert "test_5 - assert 5 == 7" in found.text
    assert "test_6 " not in found.text


def test_an_output_that_is_all_new_stays() -> None:
    assert difference(_last("hello"), _run(list(range(40)), "1"), None) is None
    assert lines_of("x\n" * 50_000) is None


async def test_a_session_shows_the_difference_only_where_that_is_asked_for(home: Path, tmp_path: Path) -> None:
    (tmp_path / "report.sh").write_text('cat "$1"; exit 1', encoding="utf-8")
    for asked in (False, True):
        settings = Settings(minimizer=MinimizerSettings(differences=asked))
        async with nacre.Tool("workspace", cwd=str(tmp_path), settings=settings) as tool:
            texts = []
            for failing in (range(40), range(41)):
                (tmp_path / "out.txt").write_text(_run(list(failing), "1.5"), encoding="utf-8")
                texts.append((await tool.call({"command": "bash report.sh out.txt"})).text)
            whole = (await tool.call({"command": "bash report.sh out.txt", "raw": True})).text
        assert texts[0].count("FAILED") == 40
        assert texts[1].count("FAILED") == (1 if asked else 41)
        assert ("[as in the last run: 40 lines" in texts[1]) is asked
        assert whole.count("FAILED") == 41
