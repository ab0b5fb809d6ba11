"""Each rule of the guard against every table of spellings; a failure lists all commands that got another answer."""

from collections.abc import Iterable
from dataclasses import replace
from typing import get_args

import guard_corrections as corrections
import guard_irreversible_spellings as irreversible
import guard_plausible_spellings as plausible
import guard_second_spellings as second
import guard_spellings as first
import pytest
from policies import MODES, STRICT, STRICT_MODES

from nacre.guard.review import Policy, review
from nacre.guard.verdict import Verdict
from nacre.settings import Decision, RuleName


def _lines(table: str) -> list[str]:
    joined = table.strip("\n").replace("\\\n", "\\\0")
    return [line.replace("\0", "\n") for line in joined.split("\n") if line]


def _second(table: str) -> list[str]:
    return [line.replace("⏎", "\n").replace("⇥", "\t") for line in table.strip("\n").split("\n")]


def _where_a_model_works(command: str) -> Verdict:
    surroundings = {"HOME": plausible.HOME, "PWD": "/elsewhere"}
    return review(command, MODES, cwd=plausible.CWD, home=plausible.HOME, environment=surroundings)


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
    assert _others(own, wanted, MODES) + _others(plausible.STAGINGS, wanted) == []


def test_no_blind_git_add_is_off_outside_modes() -> None:
    assert (
        _others(["git add .", "git add -A", "hub add --all", "git add . && git commit -m x"], "allow", Policy()) == []
    )


def test_no_force_push_refuses_every_forced_push() -> None:
    own = [*_lines(first.PUSHES), *first.MORE_PUSHES, *first.FURTHER_PUSHES, *_second(second.PUSHES)]
    assert _others(own, "deny no_force_push", Policy()) == []


def test_no_hidden_script_asks_about_every_text_that_is_made_in_an_unknown_way() -> None:
    assert _others(plausible.MADE_TEXTS, "ask no_hidden_script") == []


def test_no_device_write_refuses_every_write_to_a_disk() -> None:
    assert _others(irreversible.DEVICES, "deny no_device_write", Policy()) == []


def test_no_fork_bomb_refuses_what_starts_itself_without_end() -> None:
    assert _others(irreversible.FORK_BOMBS, "deny no_fork_bomb", Policy()) == []
    # The function as a whole is meant, not a place in the command.
    assert review(":(){ :|:& };:").span is None


def test_no_system_permissions_refuses_every_change_of_a_system_directory() -> None:
    assert _others(irreversible.PERMISSIONS, "deny no_system_permissions", Policy()) == []


@pytest.mark.parametrize("policy", [Policy(), MODES], ids=["workspace", "modes"])
def test_what_looks_like_something_that_cannot_be_taken_back_passes(policy: Policy) -> None:
    assert _others(irreversible.HARMLESS, "allow", policy) == []


@pytest.mark.parametrize(
    ("command", "cwd", "home", "rule"),
    [
        ("chmod -R 777 .", "/", "/root", "no_system_permissions"),
        ("chmod -R 777 .", "/etc", "/root", "no_system_permissions"),
        ("chmod -R 777 /etc", "/etc", "/root", "no_system_permissions"),
        ("chmod -R 777 /etc", "/etc/nginx", "/root", "no_system_permissions"),
        ("chmod -R 777 ..", "/etc/nginx", "/root", "no_system_permissions"),
        ("chown -R root usr", "/", "/home/me", "no_system_permissions"),
        ("chown -R root app", "/", "/home/me", None),
        ("chown -R root /root", "/srv/app", "/home/me", "no_system_permissions"),
        ("chown -R root /root", "/srv/app", "/root", None),
        ("chown -R root ~", "/srv/app", "/root", None),
        ("chmod -R 755 .", "/root", "/root", None),
        ("chmod -R 755 .", "/srv/app", "/root", None),
    ],
)
def test_a_system_directory_is_told_by_where_the_caller_is(command: str, cwd: str, home: str, rule: str | None) -> None:
    assert review(command, cwd=cwd, home=home).rule == rule


def test_extended_refuses_the_same_damage_by_other_means() -> None:
    own = [*_lines(first.EXTENDED), *first.MORE_EXTENDED, *_second(second.EXTENDED)]
    assert _others(own, "deny extended", STRICT) == []


def test_extended_refuses_blind_staging_by_other_means_where_the_plain_one_is_refused() -> None:
    assert _others(irreversible.STAGINGS, "deny extended", STRICT_MODES) == []
    assert _others(irreversible.STAGINGS, "allow", STRICT) == []


def test_no_rule_of_the_default_profile_refuses_a_harmless_command() -> None:
    usual = [*plausible.FOREIGN_TEXTS, *_lines(plausible.HARMLESS)]
    own = [*first.ALLOWED, *_second(second.ALLOWED)]
    assert _others(own, "allow", Policy()) + _others(usual, "allow") == []


def test_no_rule_of_the_strict_profile_refuses_a_harmless_command() -> None:
    assert _others(first.ALLOWED, "allow", STRICT) == []


@pytest.mark.parametrize(
    ("policy", "table"),
    [
        pytest.param(MODES, corrections.DEFAULT, id="default"),
        pytest.param(STRICT_MODES, corrections.STRICT, id="strict"),
        pytest.param(MODES, corrections.COUNTED, id="counted"),
    ],
)
def test_each_command_gets_its_rule(policy: Policy, table: tuple[tuple[str, str | None], ...]) -> None:
    found = ((command, rule, review(command, policy).rule) for command, rule in table)
    assert [row for row in found if row[1] != row[2]] == []


def test_the_texts_of_the_three_rules_are_those_of_the_contract() -> None:
    texts = {
        "git add .": "permission denied: blind git add commands (git add -A, git add ., git add --all, git add *) are "
        "not allowed, specify files explicitly",
        "git push -f": "permission denied: git push --force is not allowed. Use --force-with-lease for safer force "
        "pushes, or push without force",
        "rm -rf /": "permission denied: this rm command could delete critical data (.git, home directory, or root). "
        "Specify the full path explicitly (no wildcards, ~, or $HOME)",
    }
    assert {command: review(command, MODES).message for command in texts} == texts


# One command for each rule.
REFUSED = {
    "rm -rf /": "no_dangerous_rm",
    "git push -f": "no_force_push",
    "git add .": "no_blind_git_add",
    "echo em -ef / | m4 | sh": "no_hidden_script",
    "mkfs.ext4 /dev/sda": "no_device_write",
    ":(){ :|:& };:": "no_fork_bomb",
    "chmod -R 777 /": "no_system_permissions",
    "find / -delete": "extended",
    "$(" * 100 + "ls" + ")" * 100: "unchecked",
}


def _set(decision: Decision) -> Policy:
    return Policy(decisions=tuple((name, decision) for name in get_args(RuleName)))


def test_every_rule_has_a_command_here() -> None:
    assert set(REFUSED.values()) == set(get_args(RuleName))


@pytest.mark.parametrize(("command", "rule"), REFUSED.items(), ids=REFUSED.values())
def test_each_rule_can_be_set(command: str, rule: RuleName) -> None:
    assert _answer(review(command, _set("deny"))) == f"deny {rule}"
    assert _answer(review(command, _set("ask"))) == f"ask {rule}"
    alone = Policy(decisions=(*_set("allow").decisions, (rule, "deny")))
    assert _answer(review(command, alone)) == f"deny {rule}"
    if rule != "unchecked":
        assert _answer(review(command, _set("allow"))) == "allow"


@pytest.mark.parametrize(("command", "rule"), REFUSED.items(), ids=REFUSED.values())
def test_a_denial_begins_with_its_rule_and_in_modes_with_permission_denied(command: str, rule: RuleName) -> None:
    message = review(command, _set("deny")).message
    assert message.startswith(f"denied by nacre's guard (rule {rule}): ")
    own = review(command, replace(_set("deny"), denial=MODES.denial)).message
    assert own.startswith("permission denied: ")
    assert "nacre" not in own


@pytest.mark.parametrize(("command", "rule"), REFUSED.items(), ids=REFUSED.values())
def test_a_denial_names_no_setting_and_no_spelling_that_passes(command: str, rule: RuleName) -> None:
    message = review(command, _set("deny")).message.removeprefix(f"denied by nacre's guard (rule {rule}): ")
    words = (
        "nacre",
        "NACRE_",
        "policy",
        "setting",
        "rules",
        "profile",
        "strict",
        "guard",
        "wildcard",
        "$HOME",
        "full path",
    )
    assert [word for word in words if word in message] == []


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
