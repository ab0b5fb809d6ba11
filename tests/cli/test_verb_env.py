import io
import json

import pytest

from nacre import cli

TOKEN = "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"


def test_every_line_gets_one_answer_and_the_unreadable_the_safe_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        json.dumps({"name": "GH_TOKEN", "value": TOKEN}).encode(),
        json.dumps({"name": "HOME", "value": "/h"}).encode(),
        b"", b"not json", b"[1]", b'{"name": "A"}', b'{"name": "A", "value": 1}', b"\xff\xfe", b"[" * 100_000,
    ]  # fmt: skip
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\n".join(lines) + b"\n"), encoding="utf-8"))
    assert cli.main(["env", "--jsonl"]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert answers[:2] == [
        {"name": "GH_TOKEN", "strip": True, "rule": "name", "reason": "name part TOKEN", "redact_output": True},
        {"name": "HOME", "strip": False, "rule": "keep", "reason": "needed by most programs", "redact_output": False},
    ]
    assert [(each["name"], each["strip"], each["rule"]) for each in answers[2:]] == [(None, True, "unchecked")] * 7


def test_removed_values_and_proxy_passwords_are_not_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GH_TOKEN", TOKEN)
    monkeypatch.setenv("HTTP_PROXY", "http://u:proxy-password@p:1")
    assert cli.main(["env"]) == 0
    text = capsys.readouterr().out
    assert cli.main(["env", "--json"]) == 0
    child = json.loads(capsys.readouterr().out)
    assert TOKEN not in text
    assert "proxy-password" not in text
    assert child["kept"]["HTTP_PROXY"] == "http://u:[redacted:HTTP_PROXY]@p:1"
    assert child["kept"]["CI"] == "true"
    assert {"name": "GH_TOKEN", "rule": "name", "reason": "name part TOKEN"} in child["stripped"]


def test_what_nacre_sets_is_listed_and_can_be_left_unset(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("NACRE_UNSET_DEFAULTS", "CI")
    assert cli.main(["env", "--json"]) == 0
    child = json.loads(capsys.readouterr().out)
    assert "CI" not in child["kept"]
    assert "CI" not in child["set"]
    assert "AGENT" in child["set"]
    assert cli.main(["env"]) == 0
    assert "environment.unset_defaults leaves them as they are):\n  AGENT\n" in capsys.readouterr().out


def test_it_shows_what_the_settings_give_to_every_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"SHELL_ENV": "STAGE=test,CI=false", "ENV_ALLOW": "GH_TOKEN", "ENV_PROFILE": "strict"}.items():
        monkeypatch.setenv(f"NACRE_{name}", value)
    monkeypatch.setenv("GH_TOKEN", TOKEN)
    monkeypatch.setenv("SOMETHING_ELSE", "1")
    assert cli.main(["env", "--json"]) == 0
    child = json.loads(capsys.readouterr().out)
    assert {name: child["kept"].get(name) for name in ("STAGE", "CI", "GH_TOKEN", "SOMETHING_ELSE")} == {
        "STAGE": "test", "CI": "false", "GH_TOKEN": TOKEN, "SOMETHING_ELSE": None,
    }  # fmt: skip
    assert (child["profile"], child["shellEnv"], "CI" in child["set"]) == ("strict", ["CI", "STAGE"], False)
    assert cli.main(["env"]) == 0
    assert "and your setting shell.env (2):\n  CI\n  STAGE\n" in capsys.readouterr().out
    monkeypatch.setenv("NACRE_ENV_FILTER", "off")
    assert cli.main(["env", "--json"]) == 0
    child = json.loads(capsys.readouterr().out)
    assert (child["kept"]["SOMETHING_ELSE"], child["set"], child["stripped"]) == ("1", [], [])
