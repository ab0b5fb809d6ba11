"""`nacre savings`: a table with a small plot, or one object."""

import argparse
import json
from pathlib import Path

import pytest

from nacre.audit import NAME
from nacre.cli import verb_savings


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NACRE_HOME", str(tmp_path))
    return tmp_path / NAME


def run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    verb_savings.add_arguments(parser)
    return verb_savings.main(parser.parse_args(arguments))


def write(log: Path, count: int) -> None:
    minimized = {"filter": "pytest", "rawBytes": 4000, "shownBytes": 400, "artifactId": "1"}
    rows = [{"time": 1000.0 * number, "command": "pytest -q", "minimized": minimized} for number in range(count)]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="ascii")


def test_an_empty_log_says_so(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    assert capsys.readouterr().out == "0 calls, none of them shortened\n"


def test_the_table_names_commands_filters_and_days(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(log, 3)
    assert run() == 0
    out = capsys.readouterr().out
    assert out.startswith("3 of 3 calls shortened: about 2,700 tokens saved (90.0 %), 0 regretted\n")
    assert "pytest                        3         2,700   90.0%       0  " + "█" * 24 in out
    assert [line.split("  ")[0] for line in out.split("\n") if line.startswith("by ")] == [
        "by command",
        "by filter",
        "by day",
    ]


def test_json_is_one_object(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(log, 2)
    assert run("--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["total"] == {"calls": 2, "rawBytes": 8000, "shownBytes": 800, "tokensSaved": 1800, "regrets": 0}
    assert list(answer) == ["calls", "total", "command", "filter", "day"]
