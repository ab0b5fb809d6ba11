"""User rules: what they match, which one wins, and what a broken file says."""

import pytest

from nacre.guard.review import Policy, review
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


def test_a_user_rule_cannot_allow_what_a_built_in_rule_refuses() -> None:
    text = ASK_PUSH.replace('"ask"', '"allow"')
    assert review("git push --force", _policy(text)).rule == "no_force_push"


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
