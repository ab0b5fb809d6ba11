"""Families as data: what a file may say, and that its examples hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from nacre.errors import ConfigError
from nacre.minimize.families import Family, built_in, family_of
from nacre.minimize.user_filters import failed_examples, filters_of, matchers_of

OWN = """
name = "deploy"
commands = ["deploy"]
[[noise]]
kind = "rows of steps"
rows = ['^step \\d+']

[[example]]
command = "deploy prod"
exit = 1
input = '''
step 1
step 2
rolled back: quota
see the console
contact ops'''
expected = '''
rolled back: quota
see the console
contact ops'''
"""


@pytest.mark.parametrize("family", built_in(), ids=lambda family: family.name)
def test_the_examples_of_a_shipped_family_hold(family: Family) -> None:
    assert family.examples
    assert failed_examples(family, built_in()) == []


def test_names_of_families_and_commands_are_unique() -> None:
    names = [family.name for family in built_in()]
    commands = [words for family in built_in() for words in family.commands]
    assert len(names) == len(set(names))
    assert len(commands) == len(set(commands))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("name = 'a'\ncolour = 'red'", "unknown key 'colour'"),
        ("commands = ['a']", "'name' is missing"),
        ("name = 'a'\nstages = ['shine']", "unknown stage 'shine'"),
        ("name = 'a'\nkind = 'toy'", "unknown kind 'toy'"),
        ("name = 'a'\nrecognised = ['(']", "unterminated"),
        ("name = ", "Invalid value"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name(text: str, fault: str) -> None:
    with pytest.raises(ConfigError, match=r"mine\.toml: ") as refused:
        family_of(text, "mine.toml")
    assert fault in str(refused.value)


def test_a_users_family_comes_first_and_can_be_switched_off(tmp_path: Path) -> None:
    (tmp_path / "deploy.toml").write_text(OWN, encoding="utf-8")
    assert filters_of(tmp_path).families[0].name == "deploy"
    names = {family.name for family in filters_of(tmp_path, only=["pytest"]).families}
    assert names == {"pytest", "content"}
    assert "git" not in {family.name for family in filters_of(tmp_path, without=["git"]).families}


def test_a_users_family_whose_example_fails_is_left_aside(tmp_path: Path) -> None:
    path = tmp_path / "deploy.toml"
    (tmp_path / "right.toml").write_text(OWN.replace("deploy", "right"), encoding="utf-8")
    for text, fault in (
        (OWN.replace("'^step ", "'^stop "), "the example 'deploy prod' gives"),
        (OWN.split("[[example]]")[0], "needs at least one"),
    ):
        path.write_text(text, encoding="utf-8")
        found = filters_of(tmp_path)
        assert [family.name for family in found.families if family.name in ("deploy", "right")] == ["right"]
        assert len(found.problems) == 1
        assert f"{path}: " in found.problems[0]
        assert fault in found.problems[0]


def test_problem_matchers_are_detectors(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text('{"problemMatcher": [{"owner": "acme", "pattern": [{"regexp": "^!! (.*)$", "message": 1}]}]}')
    (detector,) = matchers_of([str(path)])
    assert detector.matches("!! quota")
    assert not detector.matches("quota")
    path.write_text('{"problemMatcher": [{}]}')
    with pytest.raises(ConfigError, match="not a file of problem matchers"):
        matchers_of([str(path)])
