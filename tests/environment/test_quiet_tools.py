"""Which variables ask tools for less output, where, and what wins over them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nacre
from nacre.environment.filter import child_environment
from nacre.environment.noninteractive import noninteractive_defaults
from nacre.environment.quiet_tools import quiet_variables

SHOW = 'printf "%s|%s" "${AI_AGENT-none}" "${PIP_PROGRESS_BAR-none}"'


def test_no_quiet_variable_overrides_what_the_user_set() -> None:
    for name, value in quiet_variables().items():
        assert child_environment({}, quiet=True).kept[name] == value
        assert child_environment({name: "mine"}, quiet=True).kept[name] == "mine"
        assert child_environment({}, quiet=True, per_call_env={name: "call"}).kept[name] == "call"


def test_each_quiet_variable_can_be_left_unset() -> None:
    for name in quiet_variables():
        assert name not in child_environment({}, quiet=True, unset_defaults=[name]).kept
        assert name not in child_environment({}).kept


def test_what_is_set_everywhere_is_not_set_twice() -> None:
    assert quiet_variables().keys() & noninteractive_defaults().keys() == set()


async def _seen(contract: str, **call: object) -> str:
    async with nacre.Tool(contract) as tool:
        reply = await tool.call({"command": SHOW, **call} if contract != "openai" else {"commands": [SHOW]})
    return json.dumps(reply.json()) if contract in ("basic", "openai") else reply.text


@pytest.fixture(autouse=True)
def _clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NACRE_HOME", str(tmp_path / "state"))
    for name in quiet_variables():
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("contract", ["workspace", "anthropic", "openai"])
async def test_tools_are_asked_for_less_where_a_model_reads(contract: str) -> None:
    assert "nacre|off" in await _seen(contract)


@pytest.mark.parametrize("contract", ["basic", "modes"])
async def test_basic_and_modes_set_none_of_them(contract: str) -> None:
    assert "none|none" in await _seen(contract)


async def test_the_setting_turns_them_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NACRE_QUIET_TOOLS", "false")
    assert "none|none" in await _seen("workspace")


async def test_one_of_them_can_be_left_unset_by_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NACRE_UNSET_DEFAULTS", "AI_AGENT")
    assert "none|off" in await _seen("workspace")


async def test_the_user_and_the_call_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AI_AGENT", "mine")
    assert "mine|raw" in await _seen("workspace", env={"PIP_PROGRESS_BAR": "raw"})
