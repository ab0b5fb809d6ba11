"""User rules: what they match, which one wins, and what a broken file says."""

from dataclasses import replace

import pytest

from nacre.guard.policy import Policy
from nacre.guard.review import review
from nacre.guard.rules.rule_file import RuleFileError, load_rules

ASK_PUSH = """
[[rule]]
name = "push"
decision = "ask"
words = ["git", "push"]
reason = "Somebody should look first."
match = ["git push origin main", "sudo git -C x push"]
not_match = ["git pull", "echo git push"]
"""
ALLOW_DRY = """
[[rule]]
name = "dry push"
decision = "allow"
words = ["git", "push", ["-n", "--dry-run"]]
match = ["git push -n"]
not_match = ["git push"]
"""
DENY_CURL = """
[[rule]]
name = "no curl"
decision = "deny"
words = [["curl", "wget"]]
match = ["curl x", "x=$(wget y)"]
not_match = ["grep curl x"]
"""


def _policy(*texts: str) -> Policy:
    return Policy(rules=load_rules("".join(texts), "rules.toml"))


@pytest.mark.parametrize(
    ("command", "decision", "rule"),
    [
        ("git push", "ask", "push"),
        ("sudo git push origin main", "ask", "push"),
        ("bash -c 'git push'", "ask", "push"),
        ("git push -n", "allow", None),
        ("git push --dry-run origin", "allow", None),
        ("git push -n; git push", "ask", "push"),
        ("git status", "allow", None),
        ("git push; curl x", "deny", "no curl"),
        ("/usr/bin/curl x", "deny", "no curl"),
        ("git push --force", "deny", "no_force_push"),
    ],
)
def test_the_strictest_rule_wins_and_a_later_longer_one_may_relax_an_ask(
    command: str, decision: str, rule: str | None
) -> None:
    verdict = review(command, _policy(ASK_PUSH, ALLOW_DRY, DENY_CURL))
    assert (verdict.decision, verdict.rule) == (decision, rule)


ALLOW_FORCE = """
[[rule]]
name = "my own branch"
decision = "allow"
words = ["git", "push", "--force", "origin", "mine"]
match = ["git push --force origin mine"]
not_match = ["git push --force origin main", "git push -f"]
"""


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("git push --force origin mine", None),
        ("sudo git push --force origin mine", None),
        ("git push --force origin main", "no_force_push"),
        ("git push --force origin mine && rm -rf /", "no_dangerous_rm"),
        ("git push --force origin mine; git push -f", "no_force_push"),
    ],
)
def test_an_allow_of_the_user_wins_over_a_rule_of_the_guard_for_its_command_only(
    command: str, rule: str | None
) -> None:
    assert review(command, _policy(ALLOW_FORCE)).rule == rule


ALLOWING = """
[[rule]]
decision = "allow"
words = ["{program}"]
match = ["{program} x"]
not_match = ["other"]
"""


@pytest.mark.parametrize(
    ("program", "command"),
    [
        ("rm", "rm -rf /"),
        ("git", "git push -f"),
        ("mkfs.ext4", "mkfs.ext4 /dev/sda"),
        ("tee", "echo x | tee /dev/sda"),
        ("chmod", "chmod -R 777 /"),
        ("perl", "perl -e 'fork while fork'"),
        ("sh", "echo em -ef / | m4 | sh"),
        ("shred", "shred ~/.ssh/id_rsa"),
    ],
)
def test_an_allow_wins_over_each_rule(program: str, command: str) -> None:
    strict = replace(_policy(ALLOWING.format(program=program)), profile="strict")
    assert review(command, Policy("strict")).decision != "allow"
    assert review(command, strict).decision == "allow"


@pytest.mark.parametrize("command", ["sudo rm -rf /", "bash -c 'rm -rf /'", "x=$(rm -rf /)"])
def test_an_allow_of_what_starts_a_command_allows_not_the_command(command: str) -> None:
    rules = [ALLOWING.format(program=program) for program in ("sudo", "bash", "x")]
    assert review(command, _policy(*rules)).rule == "no_dangerous_rm"


def test_an_ask_of_the_user_loosens_no_rule_of_the_guard() -> None:
    assert review("git push --force", _policy(ASK_PUSH)).rule == "no_force_push"


def test_a_denial_by_a_rule_of_the_user_gives_its_name_and_reason() -> None:
    reasoned = DENY_CURL.replace("decision", 'reason = "Use the cache."\ndecision')
    assert review("curl x", _policy(reasoned)).message == "denied by nacre's guard (rule no curl): Use the cache."
    assert review("curl x", _policy(DENY_CURL)).message == (
        "denied by nacre's guard (rule no curl): a rule of the user does not allow this command"
    )
    modes = replace(_policy(reasoned), denial="permission denied: ")
    assert review("curl x", modes).message == "permission denied: rule 'no curl' does not allow this: Use the cache."


def test_an_allow_never_relaxes_a_deny() -> None:
    allow = DENY_CURL.replace('"deny"', '"allow"').replace('[["curl", "wget"]]', '["curl", "-s"]')
    allow = allow.replace('["curl x", "x=$(wget y)"]', '["curl -s x"]')
    assert review("curl -s x", _policy(DENY_CURL, allow)).decision == "deny"


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("[[rule]\n", 1, "not valid TOML"),
        ("\n\nx = = 1\n", 3, "not valid TOML"),
        ("rules = []\n", 1, "unknown key 'rules'"),
        ("rule = 3\n", 1, "rules are written as [[rule]] tables"),
        ('[[rule]]\ndecision = "maybe"\n', 2, "decision must be one of allow, ask, deny, not 'maybe'"),
        ('[[rule]]\ndecision = "deny"\nword = ["x"]\n', 3, "unknown key 'word'"),
        ('[[rule]]\ndecision = "deny"\nwords = []\n', 3, "words must be a list"),
        ('[[rule]]\ndecision = "deny"\nwords = ["x", 1]\n', 3, "each of words is a word"),
        (
            '[[rule]]\ndecision = "deny"\nwords = ["x"]\nnot_match = ["y"]\n',
            1,
            "needs a list of example commands in 'match'",
        ),
        (
            '[[rule]]\ndecision = "deny"\nwords = ["x"]\nmatch = ["x"]\n',
            1,
            "needs a list of example commands in 'not_match'",
        ),
        (
            '[[rule]]\ndecision = "deny"\nwords = ["x"]\nmatch = ["y"]\nnot_match = ["z"]\n',
            4,
            "does not match its example 'y'",
        ),
        (
            '[[rule]]\ndecision = "deny"\nwords = ["x"]\nmatch = ["x"]\nnot_match = ["x 1"]\n',
            5,
            "matches its example 'x 1'",
        ),
    ],
)
def test_a_broken_file_is_an_error_that_names_file_and_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(RuleFileError) as caught:
        load_rules(text, "my.toml")
    assert str(caught.value).startswith(f"my.toml:{line}: ")
    assert problem in str(caught.value)


def test_an_empty_file_has_no_rules() -> None:
    assert load_rules("", "rules.toml") == ()
