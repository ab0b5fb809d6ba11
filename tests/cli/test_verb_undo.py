"""`nacre undo` lists, shows, asks and restores."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def nacre(*words: str, cwd: Path, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nacre", *words],
        cwd=cwd,
        input=given,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NACRE_UNDO": "on"},
    )


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a").write_text("a\n", encoding="utf-8")
    return work


def test_a_person_sees_what_would_change_and_restores_it(work: Path) -> None:
    done = nacre("run", "--", "rm a; echo x > a", cwd=work)
    assert done.stderr == "nacre: undo: `nacre undo undo_1` restores 1 changed file\n"
    shown = nacre("undo", "--dry-run", cwd=work)
    assert shown.stdout.splitlines()[1:] == ["revert   a"]
    assert (work / "a").read_text(encoding="utf-8") == "x\n"
    restored = nacre("undo", "--yes", cwd=work)
    assert restored.stdout.splitlines()[-1] == "restored 1 path; `nacre undo undo_2` takes that back"
    assert (work / "a").read_text(encoding="utf-8") == "a\n"
    listed = json.loads(nacre("undo", "list", "--json", cwd=work).stdout)
    assert [(one["id"], one["state"], one["undoes"]) for one in listed] == [
        ("undo_1", "undone", None),
        ("undo_2", "done", "undo_1"),
    ]


def test_without_a_person_nothing_is_restored_unless_told_so(work: Path) -> None:
    nacre("run", "--", "rm a", cwd=work)
    asked = nacre("undo", cwd=work)
    assert (asked.returncode, (work / "a").exists()) == (1, False)
    assert "--yes restores without a question" in asked.stderr


def test_an_unknown_id_is_named_with_the_known_ones(work: Path) -> None:
    nacre("run", "--", "rm a", cwd=work)
    done = nacre("undo", "undo_9", cwd=work)
    assert (done.returncode, done.stderr) == (2, "nacre: there is no undo 'undo_9'; the newest are: undo_1\n")


def test_nothing_to_undo_is_said(work: Path) -> None:
    assert nacre("undo", cwd=work).stderr == "nothing to undo\n"
