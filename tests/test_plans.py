"""A command that comes again is not decided anew, unless anything that it was decided by has changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import nacre
from nacre.api import PROFILE
from nacre.engine.engine import MOST_PLANS, Engine, from_environment
from nacre.guard.verdict import Verdict
from nacre.settings import PolicySettings, Settings


async def test_the_same_command_in_the_same_surroundings_has_one_plan() -> None:
    engine = from_environment()
    first = await engine.plan_again("echo hi", None, PROFILE, cwd="/")
    assert await engine.plan_again("echo hi", None, PROFILE, cwd="/") is first
    for other in (
        await engine.plan_again("echo ho", None, PROFILE, cwd="/"),
        await engine.plan_again("echo hi", 7, PROFILE, cwd="/"),
        await engine.plan_again("echo hi", None, PROFILE, cwd="/tmp"),
    ):
        assert other is not first


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
    engine = Engine(Settings(policy=PolicySettings(rules_file=str(rules))), str(tmp_path / "state"))
    await engine.plan_again("curl example.com", None, PROFILE, cwd="/")
    rules.write_text(
        '[[rule]]\nname = "no-curl"\ndecision = "deny"\nwords = ["curl"]\nreason = "No."\n'
        'match = ["curl x"]\nnot_match = ["echo curl"]\n'
    )
    with pytest.raises(nacre.DeniedError, match="No"):
        await engine.plan_again("curl example.com", None, PROFILE, cwd="/")
    engine.close()


async def test_who_is_asked_is_asked_each_time(tmp_path: Path) -> None:
    async def yes(command: str, verdict: Verdict) -> bool:
        return True

    engine = Engine(Settings(), str(tmp_path), approver=yes)
    first = await engine.plan_again("echo hi", None, PROFILE, cwd="/")
    assert await engine.plan_again("echo hi", None, PROFILE, cwd="/") is not first


async def test_a_wrong_argument_is_refused_although_an_equal_one_is_known() -> None:
    assert (await nacre.run("true", timeout=1)).exit_code == 0
    with pytest.raises(nacre.InvalidRequestError, match="timeout"):
        await nacre.run("true", timeout=True)
    with pytest.raises(nacre.InvalidRequestError, match="timeout"):
        await nacre.run("true", timeout=[1])  # type: ignore[arg-type]
    with pytest.raises(nacre.InvalidRequestError, match="command"):
        await nacre.run(["true"])  # type: ignore[arg-type]


async def test_no_more_plans_are_held_than_a_program_repeats() -> None:
    engine = from_environment()
    for n in range(MOST_PLANS + 10):
        await engine.plan_again(f"echo {n}", None, PROFILE, cwd=os.sep)
    assert len(engine._plans) <= MOST_PLANS
