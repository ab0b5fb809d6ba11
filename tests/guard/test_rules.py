"""Each rule of the guard against every table of spellings; a failure lists all commands that got another answer."""

from collections.abc import Iterable

import guard_corrections as corrections
import guard_plausible_spellings as plausible
import guard_second_spellings as second
import guard_spellings as first
import pytest

from nacre.guard.review import CHECKS, Policy, review
from nacre.guard.verdict import Verdict

STRICT = Policy("strict")


def _lines(table: str) -> list[str]:
    joined = table.strip("\n").replace("\\\n", "\\\0")
    return [line.replace("\0", "\n") for line in joined.split("\n") if line]


def _second(table: str) -> list[str]:
    return [line.replace("⏎", "\n").replace("⇥", "\t") for line in table.strip("\n").split("\n")]


def _where_a_model_works(command: str) -> Verdict:
    surroundings = {"HOME": plausible.HOME, "PWD": "/elsewhere"}
    return review(command, cwd=plausible.CWD, home=plausible.HOME, environment=surroundings)


def _answer(verdict: Verdict) -> str:
    return f"{verdict.decision} {verdict.rule or ''}".strip()


def _others(commands: Iterable[str], wanted: str, policy: Policy | None = None) -> list[tuple[str, str]]:
    """The commands that do not get the wanted answer, each with its own; without a policy, where a model works."""
    found = ((c, _where_a_model_works(c) if policy is None else review(c, policy)) for c in commands)
    return [(command, _answer(verdict)) for command, verdict in found if _answer(verdict) != wanted]


def test_no_dangerous_rm_refuses_every_removal() -> None:
    own = [*_lines(first.REMOVALS), *first.MORE_REMOVALS, *first.FURTHER_REMOVALS, *_second(second.REMOVALS)]
    usual = (
        plausible.ARRAYS,
        plausible.DIRECTORIES,
        plausible.GLOBS,
        plausible.LISTS,
        plausible.LINKS,
        plausible.TEXTS,
    )
    wanted = "deny no_dangerous_rm"
    assert _others(own, wanted, Policy()) + _others((c for table in usual for c in _lines(table)), wanted) == []


def test_no_blind_git_add_refuses_every_staging() -> None:
    own = [*_lines(first.STAGINGS), *first.MORE_STAGINGS, *first.FURTHER_STAGINGS, *_second(second.STAGINGS)]
    wanted = "deny no_blind_git_add"
    assert _others(own, wanted, Policy()) + _others(plausible.STAGINGS, wanted) == []


def test_no_force_push_refuses_every_forced_push() -> None:
    own = [*_lines(first.PUSHES), *first.MORE_PUSHES, *first.FURTHER_PUSHES, *_second(second.PUSHES)]
    assert _others(own, "deny no_force_push", Policy()) == []


def test_no_hidden_script_asks_about_every_text_that_is_made_in_an_unknown_way() -> None:
    assert _others(plausible.MADE_TEXTS, "ask no_hidden_script") == []


def test_extended_refuses_the_same_damage_by_other_means() -> None:
    own = [*_lines(first.EXTENDED), *first.MORE_EXTENDED, *_second(second.EXTENDED)]
    assert _others(own, "deny extended", STRICT) == []


def test_no_rule_of_the_default_profile_refuses_a_harmless_command() -> None:
    usual = [*plausible.FOREIGN_TEXTS, *_lines(plausible.HARMLESS)]
    own = [*first.ALLOWED, *_second(second.ALLOWED)]
    assert _others(own, "allow", Policy()) + _others(usual, "allow") == []


def test_no_rule_of_the_strict_profile_refuses_a_harmless_command() -> None:
    assert _others(first.ALLOWED, "allow", STRICT) == []


@pytest.mark.parametrize(
    ("policy", "table"),
    [
        pytest.param(Policy(), corrections.DEFAULT, id="default"),
        pytest.param(STRICT, corrections.STRICT, id="strict"),
        pytest.param(Policy(), corrections.COUNTED, id="counted"),
    ],
)
def test_each_command_gets_its_rule(policy: Policy, table: tuple[tuple[str, str | None], ...]) -> None:
    found = ((command, rule, review(command, policy).rule) for command, rule in table)
    assert [row for row in found if row[1] != row[2]] == []


def test_the_texts_of_the_three_rules_are_those_of_the_contract() -> None:
    assert {rule.name: rule.message for rule, _ in CHECKS} == {
        "no_blind_git_add": "permission denied: blind git add commands (git add -A, git add ., git add --all, "
        "git add *) are not allowed, specify files explicitly",
        "no_force_push": "permission denied: git push --force is not allowed. Use --force-with-lease for safer force "
        "pushes, or push without force",
        "no_dangerous_rm": "permission denied: this rm command could delete critical data (.git, home directory, or "
        "root). Specify the full path explicitly (no wildcards, ~, or $HOME)",
    }
    commands = {"git add .": "no_blind_git_add", "git push -f": "no_force_push", "rm -rf /": "no_dangerous_rm"}
    messages = {rule.name: rule.message for rule, _ in CHECKS}
    assert {command: review(command).message for command in commands} == {c: messages[r] for c, r in commands.items()}


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(f'python -c "run{" " * 20_000}"', id="blanks behind a call"),
        pytest.param(f"perl -e 'system(\"a\"{' ' * 20_000}'", id="blanks behind a word"),
        pytest.param(f'psql -c "{"/* " * 20_000}"', id="comments without an end"),
        pytest.param(f"mongosh --eval '{'.remove(' * 20_000}'", id="calls without an end"),
        pytest.param("docker run " + "-v /a:/b " * 2_000 + "x rm -rf /b", id="many volumes"),
    ],
)
def test_long_texts_do_not_hold_the_strict_profile_up(command: str) -> None:
    # The expressions for other languages cannot be interrupted; the test's own limit would notice.
    assert review(command, STRICT).rule in (None, "unchecked")
