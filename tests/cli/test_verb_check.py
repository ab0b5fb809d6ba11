"""`nacre check`: one answer for each input, whatever the input is."""

import argparse
import io
import json
import sys
from pathlib import Path

import pytest

from nacre.cli import verb_check


def _run(arguments: list[str], monkeypatch: pytest.MonkeyPatch, stdin: bytes = b"") -> int:
    parser = argparse.ArgumentParser()
    verb_check.add_arguments(parser)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
    return verb_check.main(parser.parse_args(arguments))


def test_one_command_prints_one_verdict(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["ls; git add ."], monkeypatch) == 0
    answer = json.loads(capsys.readouterr().out)
    assert list(answer) == ["decision", "rule", "message", "span"]
    assert (answer["decision"], answer["rule"], answer["span"]) == ("deny", "no_blind_git_add", [4, 13])


def test_the_command_may_come_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run([], monkeypatch, b"echo hi\n") == 0
    assert json.loads(capsys.readouterr().out) == {"decision": "allow", "rule": None, "message": "", "span": None}


def test_jsonl_gives_exactly_one_answer_per_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        b'{"command": "ls"}',
        b"not json",
        b"",
        b'{"command": 3}',
        b"[1]",
        b"\xff\xfe",
        b'{"command": "rm -rf /\\u2028ls"}',
        b'{"command": "\\ud800 rm -rf ~"}',
        b'{"command": "find . -delete"}',
        b"[" * 100_000,
    ]
    assert _run(["--jsonl", "--profile", "strict"], monkeypatch, b"\n".join(lines) + b"\n") == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    rules = [answer["rule"] for answer in answers]
    assert len(answers) == len(lines)
    assert rules[:6] == [None, *["unchecked"] * 5]
    assert rules[8:] == ["extended", "unchecked"]


def test_explain_says_it_in_words(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["--explain", "git push -f"], monkeypatch) == 0
    assert capsys.readouterr().out.startswith("deny: rule no_force_push\n  line 1: git push -f\n")


def test_replay_counts_what_each_rule_would_have_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    log.write_text(
        '{"command": "ls"}\n{"command": "git add ."}\n{"command": "git add -A"}\nbroken\n\n{"x": 1}\n', encoding="utf-8"
    )
    assert _run(["--replay", str(log)], monkeypatch) == 0
    expected = {"commands": 3, "skipped": 2, "ask": {}, "deny": {"no_blind_git_add": 2}}
    assert json.loads(capsys.readouterr().out) == expected


def test_a_broken_rule_file_is_an_error_not_an_empty_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text("[[rule]]\n", encoding="utf-8")
    assert _run(["--rules", str(rules), "ls"], monkeypatch) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"{rules}:1: " in captured.err
