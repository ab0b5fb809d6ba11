"""`nacre filters`: what is in force, whether its examples hold, and what a command's output gets."""

import argparse
import io
import sys
from pathlib import Path

import pytest

from nacre.cli import verb_filters


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))


def run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    verb_filters.add_arguments(parser)
    return verb_filters.main(parser.parse_args(arguments))


def test_list_names_each_filter_with_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list") == 0
    assert "pytest     pytest, py.test, tox, nox, coverage run\n" in capsys.readouterr().out


def test_the_examples_in_force_hold(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("test") == 0
    assert capsys.readouterr().out.endswith(" examples, 0 failed\n")


def test_a_file_is_tested_before_it_is_installed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("name = 'mine'\n[[example]]\ncommand = 'mine'\ninput = 'a'\nexpected = 'b'\n", encoding="utf-8")
    assert run("test", str(path)) == 1
    assert capsys.readouterr().out.endswith("1 examples, 1 failed\n")


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("pytest -q", "pytest: stages passed"),
        ("cat x", "content"),
        ("git status -z", "a machine format"),
        ("./unknown", "no filter knows it"),
    ],
)
def test_explain_says_what_is_done(command: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("explain", command) == 0
    assert capsys.readouterr().out.startswith(text)
