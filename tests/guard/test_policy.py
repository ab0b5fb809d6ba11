"""What a rule decides: the user's setting, else the contract's, else the rule's own; and what calls make of it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import nacre
from nacre.api import PROFILE
from nacre.contracts.modes import Modes
from nacre.guard.approval import policy_of
from nacre.guard.policy import Policy
from nacre.guard.rules.rule_file import load_rules
from nacre.guard.runtime_guard import runtime_guard
from nacre.guard.verdict import Verdict
from nacre.settings import Decision, PolicySettings, RuleName, Settings

DENIED = "denied by nacre's guard (rule {}): "


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    path = tmp_path / "repository"
    path.mkdir()
    subprocess.run(["git", "init", "-q", path], check=True)
    (path / "a.txt").write_text("a\n", encoding="utf-8")
    return path


def staged(repository: Path) -> str:
    listed = subprocess.run(["git", "diff", "--cached", "--name-only"], cwd=repository, capture_output=True, check=True)
    return listed.stdout.decode().strip()


def having(*rules: tuple[RuleName, Decision]) -> Settings:
    return Settings(policy=PolicySettings(rules=rules))


@pytest.mark.parametrize(
    ("rules", "elsewhere", "modes"),
    [
        ((), "allow", "deny"),
        ((("no_blind_git_add", "allow"),), "allow", "allow"),
        ((("no_blind_git_add", "ask"),), "ask", "ask"),
        ((("no_blind_git_add", "deny"),), "deny", "deny"),
        ((("no_force_push", "allow"),), "allow", "deny"),
    ],
)
def test_the_user_s_decision_wins_over_the_contract_s(
    rules: tuple[tuple[RuleName, Decision], ...], elsewhere: Decision, modes: Decision
) -> None:
    settings = PolicySettings(rules=rules)
    assert policy_of(settings, PROFILE).decision("no_blind_git_add") == elsewhere
    assert policy_of(settings, Modes.profile).decision("no_blind_git_add") == modes


def test_the_strict_profile_turns_its_rule_on_and_a_decision_wins_over_the_profile() -> None:
    assert Policy().decision("extended") == "allow"
    assert Policy("strict").decision("extended") == "deny"
    assert Policy("strict", decisions=(("extended", "ask"),)).decision("extended") == "ask"
    assert Policy(decisions=(("extended", "deny"),)).needs_every_command
    assert not Policy("strict", decisions=(("extended", "allow"),)).needs_every_command


@pytest.mark.parametrize("contract", ["workspace", "anthropic"])
async def test_git_add_of_everything_works_outside_modes(repository: Path, contract: str) -> None:
    async with nacre.Tool(contract, cwd=str(repository)) as tool:
        assert not (await tool.call({"command": "git add ."})).is_error
    assert staged(repository) == "a.txt"


async def test_git_add_of_everything_works_in_the_library(repository: Path) -> None:
    assert (await nacre.run("git add .", cwd=repository)).exit_code == 0
    assert staged(repository) == "a.txt"


async def test_git_add_of_everything_is_denied_in_modes_until_the_user_allows_it(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with nacre.Tool("modes", cwd=str(repository)) as tool:
        reply = await tool.call({"command": "git add ."})
    assert reply.text.startswith("permission denied: blind git add commands")
    assert staged(repository) == ""
    monkeypatch.setenv("NACRE_POLICY_RULES", "no_blind_git_add=allow")
    async with nacre.Tool("modes", cwd=str(repository)) as tool:
        assert not (await tool.call({"command": "git add ."})).is_error
    assert staged(repository) == "a.txt"


@pytest.mark.parametrize(
    ("contract", "beginning"), [("workspace", DENIED.format("no_fork_bomb")), ("modes", "permission denied: ")]
)
async def test_a_rule_that_asks_is_a_denial_where_no_person_can_be_asked(contract: str, beginning: str) -> None:
    # The function is defined and never called.
    async with nacre.Tool(contract, settings=having(("no_fork_bomb", "ask"))) as tool:
        reply = await tool.call({"command": "f() { f | f & }"})
    assert reply.is_error
    assert reply.text.startswith(beginning)
    assert reply.text.endswith("(it needs approval, and no person can be asked here)")


@pytest.mark.parametrize("answer", [True, False])
async def test_a_rule_that_asks_asks_the_approver(repository: Path, answer: bool) -> None:
    asked: list[str] = []

    async def approver(command: str, verdict: Verdict) -> bool:
        asked.append(f"{verdict.rule}: {verdict.message}")
        return answer

    settings = having(("no_blind_git_add", "ask"))
    async with nacre.Tool("workspace", cwd=str(repository), settings=settings, approver=approver) as tool:
        reply = await tool.call({"command": "git add ."})
    assert len(asked) == 1
    assert asked[0].startswith("no_blind_git_add: blind git add commands")
    assert reply.is_error is not answer
    assert staged(repository) == ("a.txt" if answer else "")
    if not answer:
        assert reply.text.startswith(DENIED.format("no_blind_git_add"))
        assert reply.text.endswith("(it was not approved)")


@pytest.mark.parametrize("command", ["mkfs.ext4 /dev/nacre-no-such-disk", "chmod -R u+r /nacre-no-such/../proc"])
@pytest.mark.parametrize("contract", ["workspace", "modes", "anthropic"])
async def test_what_cannot_be_taken_back_is_denied_in_every_guarded_contract(contract: str, command: str) -> None:
    async with nacre.Tool(contract) as tool:
        reply = await tool.call({"command": command})
    assert reply.is_error
    assert reply.text.startswith(
        "permission denied: this " if contract == "modes" else "denied by nacre's guard (rule no_"
    )


# The guard at run time: HOME is a directory of the test, and the script reads its path from a file.

OPEN_ENDED = 'read -r D < path; rm -rf "$D"'


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    work, own = tmp_path / "work", tmp_path / "somebody"
    work.mkdir()
    own.mkdir()
    (work / "path").write_text(f"{own}\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(own))
    monkeypatch.chdir(work)
    return own


async def test_a_removal_is_watched_while_it_runs_unless_its_rule_allows(own_home: Path) -> None:
    refused = await nacre.run(OPEN_ENDED, settings=Settings())
    assert "refused by nacre" in refused.text
    assert own_home.is_dir()
    allowed = await nacre.run(OPEN_ENDED, settings=having(("no_dangerous_rm", "allow")))
    assert allowed.exit_code == 0
    assert not own_home.exists()


async def test_a_removal_that_was_approved_is_not_refused_while_it_runs(own_home: Path) -> None:
    async def yes(command: str, verdict: Verdict) -> bool:
        return True

    async with nacre.Tool("modes", settings=having(("no_dangerous_rm", "ask")), approver=yes) as tool:
        assert "refused by nacre" in (await tool.call({"command": OPEN_ENDED})).text
        assert own_home.is_dir()
        reply = await tool.call({"command": f"{OPEN_ENDED} {own_home}"})
    assert not reply.is_error
    assert not own_home.exists()


def test_a_removal_that_a_rule_of_the_user_allows_is_not_watched() -> None:
    text = '[[rule]]\ndecision = "allow"\nwords = ["rm", "-rf"]\nmatch = ["rm -rf x"]\nnot_match = ["rm x"]\n'
    policy = Policy(rules=load_rules(text, "rules.toml"))
    assert runtime_guard('rm -rf "$X"') is not None
    assert runtime_guard('rm -rf "$X"', policy=policy) is None
    assert runtime_guard('rm -r "$X"', policy=policy) is not None
