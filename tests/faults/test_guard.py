"""The guard under fire, by number: cases 13, 14, 88 and 89. It answers, and what it cannot check it denies."""

from __future__ import annotations

import shlex
from typing import Any, cast

import pytest

import nacre
from nacre.guard.policy import Policy
from nacre.guard.review import review
from nacre.guard.rules.rule_file import Rule

MONSTERS = {
    "nested subshells": "(" * 20_000 + "true" + ")" * 20_000,
    "nested substitutions": "echo " + "$(" * 20_000 + "true" + ")" * 20_000,
    "a megabyte in one line": "echo " + "word " * 200_000,
    "a pipeline of 50,000 stages": " | ".join(["cat"] * 50_000),
}


@pytest.mark.parametrize("monster", MONSTERS)
def test_case_13_monsters_are_answered_without_a_recursion_error(monster: str) -> None:
    verdict = review(MONSTERS[monster])
    assert (verdict.decision, verdict.rule) in (("allow", None), ("deny", "unchecked"))


@pytest.mark.parametrize("monster", MONSTERS)
def test_case_13_what_is_hidden_in_a_monster_does_not_pass(monster: str) -> None:
    assert review(f"{MONSTERS[monster]}; rm -rf /").decision == "deny"


@pytest.mark.parametrize("levels", [1, 4, 8, 9])
def test_case_14_a_command_below_many_shells_is_denied(levels: int) -> None:
    command = "rm -rf /"
    for _ in range(levels):
        command = f"bash -c {shlex.quote(command)}"
    assert review(command).decision == "deny"


@pytest.mark.parametrize(
    "command", ["{rm,-rf,/}", "rm -rf / \\\n", "rm -rf / \\", "case x in x) rm -rf / ;", "rm -rf / )"]
)
def test_case_88_what_a_parser_stumbles_over_is_read_again(command: str) -> None:
    assert review(command).decision == "deny"


class Broken:
    """A rule that raises whatever is asked of it."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


def test_case_89_a_checker_that_raises_denies() -> None:
    verdict = review("echo $HOME", Policy(rules=(cast(Rule, Broken()),)))
    assert (verdict.decision, verdict.rule) == ("deny", "unchecked")


def test_case_89_a_checker_without_time_denies() -> None:
    verdict = review('echo "$(cat x)"; ' * 2_000, seconds=0.0)
    assert (verdict.decision, verdict.rule) == ("deny", "unchecked")


async def test_case_89_what_could_not_be_checked_is_not_run(home: Any) -> None:
    with pytest.raises(nacre.DeniedError, match="could not be checked") as denied:
        await nacre.run(MONSTERS["nested substitutions"])
    assert denied.value.rule == "unchecked"
