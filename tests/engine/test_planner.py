"""A command that comes again is not decided anew, unless anything that it was decided by has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

import nacre
from nacre.api import PROFILE
from nacre.engine.engine import from_environment
from nacre.engine.planner import MOST_PLANS
from nacre.guard.verdict import Verdict
from nacre.request import ShellRequest
from nacre.settings import PolicySettings, Settings


async def test_the_same_command_in_the_same_surroundings_has_one_plan() -> None:
    known = from_environment().planner.known
    for _ in range(2):
        await nacre.run("echo hi", cwd="/")
        assert len(known) == 1
    await nacre.run("echo ho", cwd="/")
    await nacre.run("echo hi", cwd="/", timeout=7)
    await nacre.run("echo hi", cwd="/tmp")
    assert len(known) == 4


async def test_a_workspace_call_in_a_session_is_planned_once(tmp_path: Path) -> None:
    async with nacre.Tool("workspace", cwd=tmp_path) as tool:
        await tool.call({"command": "echo hi"})
        for _ in range(2):
            assert (await tool.call({"command": "echo hi"})).text.startswith("hi")
            assert len(tool.engine.planner.known) == 1
        await tool.call({"command": "cd /"})
        assert (await tool.call({"command": "pwd"})).text.startswith("/\n")


async def test_a_variable_that_was_set_since_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (await nacre.run("echo [$LATER]")).text == "[]\n"
    monkeypatch.setenv("LATER", "now")
    assert (await nacre.run("echo [$LATER]")).text == "[now]\n"


async def test_a_value_that_became_secret_since_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    command = "echo q8Zr4TnV0pLs7WxE"
    assert "q8Zr4TnV0pLs7WxE" in (await nacre.run(command)).text
    monkeypatch.setenv("SERVICE_API_KEY", "q8Zr4TnV0pLs7WxE")
    assert "q8Zr4TnV0pLs7WxE" not in (await nacre.run(command)).text


async def test_what_was_denied_is_denied_again() -> None:
    for _ in range(2):
        with pytest.raises(nacre.DeniedError):
            await nacre.run("rm -rf /")


async def test_a_rule_that_was_added_since_holds(tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text("")
    settings = Settings(policy=PolicySettings(rules_file=str(rules)))
    await nacre.run("curl --version", settings=settings)
    rules.write_text(
        '[[rule]]\nname = "no-curl"\ndecision = "deny"\nwords = ["curl"]\nreason = "No."\n'
        'match = ["curl x"]\nnot_match = ["echo curl"]\n'
    )
    with pytest.raises(nacre.DeniedError, match="No"):
        await nacre.run("curl --version", settings=settings)


async def test_an_approver_is_asked_each_time(tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(
        '[[rule]]\nname = "ask-true"\ndecision = "ask"\nwords = ["true"]\nreason = "Really?"\n'
        'match = ["true"]\nnot_match = ["echo true"]\n'
    )
    asked = 0

    async def yes(command: str, verdict: Verdict) -> bool:
        nonlocal asked
        asked += 1
        return True

    settings = Settings(policy=PolicySettings(rules_file=str(rules)))
    async with nacre.Tool("workspace", settings=settings, approver=yes) as tool:
        for _ in range(2):
            await tool.call({"command": "true"})
    assert asked == 2


async def test_a_wrong_argument_is_refused_although_an_equal_one_is_known() -> None:
    assert (await nacre.run("true", timeout=1)).exit_code == 0
    with pytest.raises(nacre.InvalidRequestError, match="timeout"):
        await nacre.run("true", timeout=True)
    with pytest.raises(nacre.InvalidRequestError, match="timeout"):
        await nacre.run("true", timeout=[1])  # type: ignore[arg-type]
    with pytest.raises(nacre.InvalidRequestError, match="command"):
        await nacre.run(["true"])  # type: ignore[arg-type]


def test_no_more_plans_are_held_than_a_program_repeats() -> None:
    planner = from_environment().planner
    planned = planner.plan(ShellRequest(command="true"), PROFILE, cwd="/")
    for number in range(MOST_PLANS + 10):
        planner.remember((number,), planned)
    assert len(planner.known) <= MOST_PLANS


async def test_the_variables_of_a_call_reach_a_command_whose_environment_is_not_filtered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NACRE_ENV_FILTER", "off")
    assert (await nacre.run("echo [$OWN]", env={"OWN": "mine"})).text == "[mine]\n"
