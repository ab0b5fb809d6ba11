"""The table of losses: each row is held to its own examples, through the whole guard."""

import pytest

from nacre.guard.policy import Policy
from nacre.guard.review import review
from nacre.guard.rules.extended.services import losses

STRICT = Policy("strict")


def test_the_strict_profile_refuses_what_a_row_matches_for_its_reason() -> None:
    examples = [(loss, command, review(command, STRICT)) for loss in losses() for command in loss.match]
    assert [(loss.words, command) for loss, command, verdict in examples if verdict.rule != "extended"] == []
    firsts = [(loss, review(loss.match[0], STRICT).message) for loss in losses()]
    assert [
        loss.words
        for loss, text in firsts
        if not text.startswith(f"denied by nacre's guard (rule extended): {loss.reason}.")
    ] == []


def test_the_strict_profile_allows_what_a_row_does_not_match() -> None:
    assert [loss.words for loss in losses() if not loss.not_match] == []
    harmless = [command for loss in losses() for command in loss.not_match]
    assert [command for command in harmless if review(command, STRICT).decision != "allow"] == []


def test_the_default_profile_leaves_services_alone() -> None:
    examples = [command for loss in losses() for command in loss.match]
    assert [command for command in examples if review(command).decision != "allow"] == []


@pytest.mark.parametrize(
    "command",
    [
        "sudo docker ps -a | awk '{print $1}' | xargs docker rm -f",
        "docker ps -aq | while read c; do docker rm -f $c; done",
        "bash -c 'kubectl delete ns prod'",
        "ssh db dropdb live",
        "kubectl exec db-0 -- psql -c 'DROP TABLE users'",
        "redis-cli -h db <<< FLUSHALL",
        "psql -qc 'begin; truncate users; commit'",
        "mysql -e'drop database live'",
        "psql -c '-- tidy up\n/* all */ drop table users'",
        "kubectl delete ns prod --dry-run=none",
        "AWS_PROFILE=live aws s3 rm --recursive s3://bucket",
    ],
)
def test_losses_are_found_in_other_spellings(command: str) -> None:
    assert review(command, STRICT).rule == "extended"


@pytest.mark.parametrize(
    "command",
    [
        "docker ps -a | grep web | awk '{print $1}' | xargs docker rm -f",
        "git commit -m 'docker system prune -af'",
        "echo 'DROP TABLE users' > drop.sql",
        "grep -rn 'terraform destroy' docs",
        "psql -c \"comment on table users is 'x; drop table users'\"",
        "psql -c '-- drop table users\nselect 1'",
        "docker exec db psql -c \"select 'DROP TABLE users'\"",
    ],
)
def test_what_only_mentions_a_loss_passes(command: str) -> None:
    assert review(command, STRICT).decision == "allow"
