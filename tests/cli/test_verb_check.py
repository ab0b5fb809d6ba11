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
    assert _run(["ls; git push -f"], monkeypatch) == 0
    answer = json.loads(capsys.readouterr().out)
    assert list(answer) == ["decision", "rule", "message", "span"]
    assert (answer["decision"], answer["rule"], answer["span"]) == ("deny", "no_force_push", [4, 15])


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
    expected = {"commands": 3, "skipped": 2, "ask": {}}
    assert _run(["--replay", str(log), "--contract", "modes"], monkeypatch) == 0
    assert json.loads(capsys.readouterr().out) == expected | {"deny": {"no_blind_git_add": 2}}
    assert _run(["--replay", str(log)], monkeypatch) == 0
    assert json.loads(capsys.readouterr().out) == expected | {"deny": {}}


def test_a_broken_rule_file_is_an_error_not_an_empty_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text("[[rule]]\n", encoding="utf-8")
    assert _run(["--rules", str(rules), "ls"], monkeypatch) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"{rules}:1: " in captured.err


@pytest.mark.parametrize(
    ("contract", "command", "message"),
    [
        ("modes", "git add .", "permission denied: blind git add commands"),
        ("workspace", "git add .", ""),
        ("anthropic", "git add .", ""),
        ("openai", "git add .", ""),
        ("run", "git add .", ""),
        ("modes", "mkfs.ext4 /dev/sda", "permission denied: this would format, wipe or overwrite a disk"),
        ("workspace", "mkfs.ext4 /dev/sda", "denied by nacre's guard (rule no_device_write): this would format"),
        ("anthropic", "rm -rf /", "denied by nacre's guard (rule no_dangerous_rm): this rm could delete"),
        ("openai", "rm -rf /", "denied by nacre's guard (rule no_dangerous_rm): this rm could delete"),
        ("run", "rm -rf /", "denied by nacre's guard (rule no_dangerous_rm): this rm could delete"),
        ("basic", "rm -rf /", ""),
    ],
)
def test_a_contract_judges_as_its_calls_do(
    contract: str, command: str, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(["--contract", contract, command], monkeypatch) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["message"].startswith(message)
    assert answer["decision"] == ("deny" if message else "allow")


def test_the_contract_is_workspace_when_none_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _run(["git add ."], monkeypatch)
    _run(["--contract", "workspace", "git add ."], monkeypatch)
    first, second = capsys.readouterr().out.splitlines()
    assert first == second


def _decision(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    assert _run([command], monkeypatch) == 0
    decision: str = json.loads(capsys.readouterr().out)["decision"]
    return decision


def test_the_settings_of_a_call_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "nacre").mkdir()
    rules = tmp_path / "mine.toml"
    rules.write_text(
        '[[rule]]\ndecision = "ask"\nwords = ["curl"]\nmatch = ["curl x"]\nnot_match = ["ls"]\n', encoding="utf-8"
    )
    text = f"[policy]\nguard_profile = 'strict'\nrules_file = '{rules}'\nrules.no_force_push = 'ask'\n"
    (tmp_path / "nacre" / "nacre.toml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("NACRE_POLICY_RULES", "no_blind_git_add=deny")
    commands = {"git push -f": "ask", "git add .": "deny", "find . -delete": "deny", "curl x": "ask", "ls": "allow"}
    assert {command: _decision(command, monkeypatch, capsys) for command in commands} == commands
    monkeypatch.setenv("NACRE_GUARD", "off")
    assert _decision("rm -rf /", monkeypatch, capsys) == "allow"


def test_home_variables_and_directory_of_a_call_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = tmp_path / "somewhere" / "project"
    project.mkdir(parents=True)
    commands = [f"rm -rf {project}", f"rm -rf {tmp_path}/somewhere", 'rm -rf "$ROOTFS"/*']
    assert {_decision(command, monkeypatch, capsys) for command in commands[:2]} == {"allow"}
    assert _decision(commands[2], monkeypatch, capsys) == "deny"
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(tmp_path / "somewhere"))
    monkeypatch.setenv("ROOTFS", "/srv/image")
    assert [_decision(command, monkeypatch, capsys) for command in commands] == ["deny", "deny", "allow"]


def test_a_project_that_sets_a_rule_is_left_aside_with_a_notice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "nacre.toml").write_text("[policy.rules]\nno_force_push = 'allow'\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert _run(["git push -f"], monkeypatch) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["rule"] == "no_force_push"
    assert captured.err.startswith("nacre: the project's settings are left aside as a whole: ")


def test_an_unknown_rule_is_an_error_that_names_the_known_ones(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NACRE_POLICY_RULES", "no_rm=deny")
    assert _run(["ls"], monkeypatch) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith('nacre check: NACRE_POLICY_RULES: no_rm is unknown; known: "no_dangerous_rm", ')


@pytest.mark.parametrize("option", ["--rules", "--replay"])
def test_a_file_that_is_not_there_is_named(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "missing"
    assert _run([option, str(missing), "true"], monkeypatch) == 2
    assert capsys.readouterr().err.lower().startswith(f"nacre check: {missing} cannot be read: no such file")
