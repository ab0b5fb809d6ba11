"""A command that a rule says to ask about is asked about, and a client that cannot ask reads why it was denied."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from mcp.types import ElicitRequestParams, ElicitResult

from mcp_server.conftest import Connect, over_http, over_stdio
from nacre.mcp import elicitation

RULE = """\
[[rule]]
name = "ask-touch"
decision = "ask"
words = ["touch"]
reason = "This makes a file."
match = ["touch x"]
not_match = ["ls"]
"""


NAMES = ("yes", "no", "declined", "dismissed")


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(RULE, encoding="utf-8")
    monkeypatch.setenv("NACRE_RULES_FILE", str(path))


@pytest.mark.usefixtures("rules")
async def test_only_a_clear_yes_runs_the_command(connect: Connect, tmp_path: Path) -> None:
    asked: list[str] = []
    answers = [
        ElicitResult(action="accept", content={"allow": True}),
        ElicitResult(action="accept", content={"allow": False}),
        ElicitResult(action="decline"),
        ElicitResult(action="cancel"),
    ]

    async def answer(context: Any, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return answers[len(asked) - 1]

    results = []
    async with connect(elicitation_callback=answer) as client:
        for name in NAMES:
            results.append(await client.call_tool("bash", {"command": f"touch {tmp_path / name}; echo made"}))
    assert [result.is_error for result in results] == [False, True, True, True]
    assert results[0].content[0].text.startswith("made\n")
    assert all("it was not approved" in result.content[0].text for result in results[1:])
    assert [(tmp_path / name).exists() for name in ("yes", "no", "declined", "dismissed")] == [
        True,
        False,
        False,
        False,
    ]
    assert asked[0].startswith(f"Run this command?\n\ntouch {tmp_path / 'yes'}; echo made\n\n")
    assert asked[0].endswith("This makes a file.")


@pytest.mark.usefixtures("rules")
async def test_a_client_that_cannot_ask_reads_why_and_what_to_do(connect_http: Connect, tmp_path: Path) -> None:
    async with connect_http() as client:
        denied = await client.call_tool("bash", {"command": f"touch {tmp_path / 'no'}"})
    assert denied.is_error
    assert "this client cannot ask a person" in denied.content[0].text
    assert not (tmp_path / "no").exists()


async def never_answered(context: Any, params: ElicitRequestParams) -> ElicitResult:
    await asyncio.Event().wait()
    raise AssertionError("it is never answered")


@pytest.mark.usefixtures("rules")
async def test_a_person_who_does_not_answer_costs_a_call_45_seconds_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the newer era the call has come back with the question, and waits for nothing."""
    assert elicitation.ANSWER_SECONDS == 45
    monkeypatch.setattr(elicitation, "ANSWER_SECONDS", 0.5)
    async with over_http("legacy", elicitation_callback=never_answered) as client, asyncio.timeout(30):
        denied = await client.call_tool("bash", {"command": f"touch {tmp_path / 'no'}"})
    assert denied.is_error
    assert "and no answer came within 0.5 s; nothing was run" in denied.content[0].text
    assert not (tmp_path / "no").exists()


@pytest.mark.usefixtures("rules")
async def test_a_person_who_does_not_answer_costs_a_call_no_more_than_its_timeout(tmp_path: Path) -> None:
    async with over_stdio("legacy", elicitation_callback=never_answered) as client, asyncio.timeout(30):
        denied = await client.call_tool("bash", {"command": f"touch {tmp_path / 'no'}", "timeout": 1})
    assert denied.is_error
    assert "it needs approval, and no answer came within 1 s; nothing was run" in denied.content[0].text
    assert not (tmp_path / "no").exists()


@pytest.mark.usefixtures("rules")
async def test_an_answer_to_another_command_counts_for_nothing(tmp_path: Path) -> None:
    """What was asked is sealed: a yes cannot be carried over to a command that nobody saw."""
    from mcp import Client, MCPError
    from mcp.types import InputRequiredResult

    from mcp_server.conftest import http_server

    async def answer(context: Any, params: ElicitRequestParams) -> ElicitResult:
        raise AssertionError("the test answers itself")

    yes: dict[str, Any] = {"approval": ElicitResult(action="accept", content={"allow": True})}
    async with http_server() as url, Client(url, elicitation_callback=answer) as client:
        seen = await client.session.call_tool("bash", {"command": "touch seen"}, allow_input_required=True)
        assert isinstance(seen, InputRequiredResult)
        unseen = {"command": f"touch {tmp_path / 'unseen'}"}
        with pytest.raises(MCPError, match="invalid or expired requestState"):
            await client.session.call_tool(
                "bash", unseen, input_responses=yes, request_state=seen.request_state, allow_input_required=True
            )
        without = await client.session.call_tool("bash", unseen, input_responses=yes, allow_input_required=True)
        assert isinstance(without, InputRequiredResult)
    assert not (tmp_path / "unseen").exists()


def test_an_answer_counts_once_for_its_command_and_on_the_server_that_asked() -> None:
    ours, theirs = elicitation.OpenQuestions(), elicitation.OpenQuestions()
    state = ours.add("a rule", "echo hi")
    assert not theirs.take(state, "a rule", "echo hi")
    assert ours.take(state, "a rule", "echo hi")
    assert not ours.take(state, "a rule", "echo hi")
    assert not ours.take(ours.add("a rule", "echo hi"), "a rule", "echo other")


def test_the_oldest_question_of_too_many_is_forgotten() -> None:
    questions = elicitation.OpenQuestions()
    states = [questions.add("a rule", "echo hi") for _ in range(elicitation.MOST_QUESTIONS + 1)]
    assert not questions.take(states[0], "a rule", "echo hi")
    assert questions.take(states[1], "a rule", "echo hi")
