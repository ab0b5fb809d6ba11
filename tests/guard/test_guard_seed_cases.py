"""The 42 + 4 cases that seed 002 counts.

One of the seed's own expectations is superseded by the corpus: `rm -r .git` (without a terminal rm does not ask) is
refused. `rm -rf ~/Documents` stays refused.
"""

import pytest

from nacre.guard.review import review

ADD, PUSH, RM = "no_blind_git_add", "no_force_push", "no_dangerous_rm"
CASES = [
    ("git add main.rs", None),
    ("git add main.rs lib.rs", None),
    ("git add src/main.rs", None),
    ("git add -v main.rs", None),
    ("git add -A", ADD),
    ("git add --all", ADD),
    ("git add .", ADD),
    ("git add *", ADD),
    ("sudo git add -A", ADD),
    ("echo 'adding' && git add -A && git commit -m 'test'", ADD),
    ("git push", None),
    ("git push origin main", None),
    ("git push --force-with-lease", None),
    ("git push --force-with-lease origin main", None),
    ("git push --force", PUSH),
    ("git push -f", PUSH),
    ("git push --force origin main", PUSH),
    ("sudo git push --force", PUSH),
    ("rm file.txt", None),
    ("rm -rf /tmp/build", None),
    ("rm -rf node_modules", None),
    ("rm -r .git", RM),
    ("rm -f .git", None),
    ("rm -rf /", RM),
    ("rm -rf ~", RM),
    ("rm -rf ~/", RM),
    ("rm -rf ~/Documents", RM),
    ("rm -rf $HOME", RM),
    ("rm -rf .git", RM),
    ("rm -rf ./.git", RM),
    ("rm -rf /path/to/.git", RM),
    ("rm -rf *", RM),
    ("rm -rf .*", RM),
    ("rm -fr .git", RM),
    ("rm -r -f .git", RM),
    ("sudo rm -rf /", RM),
    ("echo 'cleaning' && rm -rf .git", RM),
    ("ls -la", None),
    ("cat file.txt", None),
    ("echo hello", None),
    ("ps aux | grep python", None),
    ("git status", None),
    ("git commit -m 'test'", None),
    ("git log --oneline", None),
    ("git diff", None),
    ("cd /tmp && ls -la && echo done", None),
    ("", None),
    ("# this is a comment", None),
]
MESSAGES = {
    ADD: "permission denied: blind git add commands (git add -A, git add ., git add --all, git add *) are not allowed, "
    "specify files explicitly",
    PUSH: "permission denied: git push --force is not allowed. Use --force-with-lease for safer force pushes, "
    "or push without force",
    RM: "permission denied: this rm command could delete critical data (.git, home directory, or root). "
    "Specify the full path explicitly (no wildcards, ~, or $HOME)",
}


@pytest.mark.parametrize(("command", "rule"), CASES)
def test_seed_case(command: str, rule: str | None) -> None:
    verdict = review(command)
    assert (verdict.rule, verdict.message) == (rule, MESSAGES[rule] if rule else "")


@pytest.mark.parametrize(
    ("command", "decision"),
    [("git add .", "deny"), ("rm -rf /", "deny"), ("git push --force", "deny"), ("echo ok", "allow")],
)
def test_the_four_integration_cases(command: str, decision: str) -> None:
    assert review(command).decision == decision
