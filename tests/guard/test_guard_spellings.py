"""The rules against our own spellings: what each must refuse, and what none may."""

import guard_spellings as spellings
import pytest

from nacre.guard.review import Policy, review
from nacre.guard.verdict import Verdict


def _lines(table: str) -> list[str]:
    joined = table.strip("\n").replace("\\\n", "\\\0")
    return [line.replace("\0", "\n") for line in joined.split("\n") if line]


@pytest.mark.parametrize(
    "command", [*_lines(spellings.REMOVALS), *spellings.MORE_REMOVALS, *spellings.FURTHER_REMOVALS]
)
def test_recursive_removal_of_something_critical_is_refused(command: str) -> None:
    verdict = review(command)
    assert (verdict.decision, verdict.rule) == ("deny", "no_dangerous_rm")


@pytest.mark.parametrize(
    "command", [*_lines(spellings.STAGINGS), *spellings.MORE_STAGINGS, *spellings.FURTHER_STAGINGS]
)
def test_blind_staging_is_refused(command: str) -> None:
    verdict = review(command)
    assert (verdict.decision, verdict.rule) == ("deny", "no_blind_git_add")


@pytest.mark.parametrize("command", [*_lines(spellings.PUSHES), *spellings.MORE_PUSHES, *spellings.FURTHER_PUSHES])
def test_forced_push_is_refused(command: str) -> None:
    verdict = review(command)
    assert (verdict.decision, verdict.rule) == ("deny", "no_force_push")


@pytest.mark.parametrize("command", [*_lines(spellings.EXTENDED), *spellings.MORE_EXTENDED])
def test_the_same_damage_by_other_means_is_refused_by_the_strict_profile(command: str) -> None:
    verdict = review(command, Policy("strict"))
    assert (verdict.decision, verdict.rule) == ("deny", "extended")


@pytest.mark.parametrize("profile", ["default", "strict"])
@pytest.mark.parametrize("command", spellings.ALLOWED)
def test_harmless_commands_pass_both_profiles(command: str, profile: str) -> None:
    assert review(command, Policy("strict" if profile == "strict" else "default")) == Verdict("allow")
