"""A viewer answers what a rule says to ask about; the first answer of any surface counts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.feed.viewing import Event, following, kinds, until, until_ends

import nacre
from nacre.errors import DeniedError
from nacre.feed.follower import Decision, Follower
from nacre.guard.verdict import Verdict
from nacre.tool import Tool

RULE = """\
[[rule]]
name = "ask-touch"
decision = "ask"
words = ["touch"]
reason = "This makes a file."
match = ["touch x"]
not_match = ["ls"]
"""


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "rules.toml"
    path.write_text(RULE, encoding="utf-8")
    monkeypatch.setenv("NACRE_RULES_FILE", str(path))
    return path


async def _answered(feed: Follower, decision: Decision) -> Event:
    """Wait for the question and answer it."""
    question = (await until(feed, lambda event: event["event"] == "approval"))[-1]
    assert feed.answer(question["call"], question["question"], decision)
    return question


def _is_answered(event: Event) -> bool:
    return event["event"] == "approval" and "answer" in event


async def test_a_yes_of_a_viewer_runs_the_command_once(home: Path, tmp_path: Path, rules: Path) -> None:
    made = tmp_path / "made"
    async with following(home) as feed, Tool("workspace", cwd=tmp_path) as tool:
        call = asyncio.create_task(tool.call({"command": f"cd . && touch {made}"}))
        question = await _answered(feed, "once")
        events = await until_ends(feed)
        assert not (await call).is_error
        assert made.exists()
        again = asyncio.create_task(tool.call({"command": f"touch {made}"}))
        await _answered(feed, "deny")
        denied = await until_ends(feed)
        reply = await again
    assert question["rule"] == "ask-touch"
    assert question["command"][slice(*question["span"])] == f"touch {made}"
    assert (events[0]["event"], events[0]["answer"]) == ("approval", "once")
    assert len({event["call"] for event in events} | {question["call"]}) == 1
    assert reply.is_error
    assert "was not approved" in reply.text
    assert (denied[-1]["outcome"], denied[-1]["rule"]) == ("denied", "ask-touch")


async def test_a_question_of_a_call_without_a_tool_and_its_run_are_one_call(
    home: Path, tmp_path: Path, rules: Path
) -> None:
    async with following(home) as feed:
        call = asyncio.create_task(nacre.run(f"touch {tmp_path}/made"))
        await _answered(feed, "once")
        events = await until_ends(feed)
        await call
    assert kinds(events) == ["approval", "end"]
    (entry,) = [json.loads(line) for line in (home / "log.jsonl").read_text().splitlines()]
    assert entry["call"] == events[-1]["call"]


async def test_for_this_session_asks_no_more_about_the_same_command(home: Path, tmp_path: Path, rules: Path) -> None:
    async with following(home) as feed, Tool("workspace", cwd=tmp_path) as tool:
        call = asyncio.create_task(tool.call({"command": "touch made"}))
        await _answered(feed, "session")
        await until_ends(feed)
        await call
        assert not (await tool.call({"command": "touch made"})).is_error
        assert "approval" not in kinds(await until_ends(feed))
        other = asyncio.create_task(tool.call({"command": "touch another"}))
        await _answered(feed, "deny")
        assert (await other).is_error
    assert rules.read_text(encoding="utf-8") == RULE


async def test_always_writes_a_rule_for_exactly_this_command(home: Path, tmp_path: Path, rules: Path) -> None:
    async with following(home) as feed:
        call = asyncio.create_task(nacre.run("touch 'a b'", cwd=tmp_path))
        await _answered(feed, "always")
        await call
    await nacre.run("touch 'a b'", cwd=tmp_path)
    with pytest.raises(DeniedError):
        await nacre.run("touch 'a b' c", cwd=tmp_path)
    assert rules.read_text(encoding="utf-8").startswith(RULE.rstrip())


async def test_always_makes_a_rule_file_where_there_is_none(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NACRE_POLICY_RULES", "no_dangerous_rm=ask")
    settings = tmp_path / "config/nacre/nacre.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('# mine\n[policy] # rules\nguard_profile = "default"\n')
    (tmp_path / ".git").mkdir()
    async with following(home) as feed:
        call = asyncio.create_task(nacre.run("rm -rf .git", cwd=tmp_path))
        await _answered(feed, "always")
        answer = (await until(feed, _is_answered))[-1]
        await call
    assert "note" not in answer
    assert settings.read_text().startswith("# mine\n[policy] # rules\nrules_file = ")
    (tmp_path / ".git").mkdir()
    assert (await nacre.run("rm -rf .git", cwd=tmp_path)).ok
    with pytest.raises(DeniedError):
        await nacre.run("rm -rf .git /", cwd=tmp_path)


async def test_what_no_rule_can_name_is_approved_for_the_session_and_says_so(
    home: Path, tmp_path: Path, rules: Path
) -> None:
    async with following(home) as feed:
        call = asyncio.create_task(nacre.run('touch "made-$(date +%s)"', cwd=tmp_path))
        await _answered(feed, "always")
        answer = (await until(feed, _is_answered))[-1]
        assert (await call).ok
    assert answer["note"].startswith("approved for this session only: ")
    assert rules.read_text(encoding="utf-8") == RULE


async def test_the_programs_own_approver_answers_beside_the_viewers(home: Path, tmp_path: Path, rules: Path) -> None:
    async def yes(command: str, verdict: Verdict) -> bool:
        return True

    async with following(home) as feed, Tool("workspace", cwd=tmp_path, approver=yes) as tool:
        reply = await tool.call({"command": "touch made"})
        events = await until_ends(feed)
    assert not reply.is_error
    assert [event.get("answer") for event in events if event["event"] == "approval"] == [None, "once"]


async def test_an_approver_that_cannot_ask_leaves_it_to_the_viewers(home: Path, tmp_path: Path, rules: Path) -> None:
    async def cannot(command: str, verdict: Verdict) -> bool:
        raise DeniedError("the client cannot ask", rule=verdict.rule)

    async with following(home) as feed, Tool("workspace", cwd=tmp_path, approver=cannot) as tool:
        call = asyncio.create_task(tool.call({"command": "touch made"}))
        await _answered(feed, "once")
        assert not (await call).is_error


async def test_no_answer_in_time_is_a_denial_and_ends_the_question(home: Path, tmp_path: Path, rules: Path) -> None:
    async with following(home) as feed, Tool("workspace", cwd=tmp_path) as tool:
        reply = await tool.call({"command": "touch made", "timeout": 1})
        events = await until_ends(feed)
    assert "no answer came within 1 s" in reply.text
    assert kinds(events) == ["start", "approval", "approval", "end"]
    assert events[2]["answer"] == "none"


async def test_a_viewer_that_comes_late_is_asked_what_is_still_open(home: Path, tmp_path: Path, rules: Path) -> None:
    async with following(home) as first, Tool("workspace", cwd=tmp_path) as tool:
        call = asyncio.create_task(tool.call({"command": "touch made"}))
        await until(first, lambda event: event["event"] == "approval")
        async with following(home) as second:
            await _answered(second, "once")
            assert not (await call).is_error


async def test_for_a_person_a_denial_is_a_question_and_the_log_knows_who_it_was(home: Path, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    async with following(home) as feed, Tool("workspace", cwd=tmp_path, by="person") as tool:
        call = asyncio.create_task(tool.call({"command": "rm -rf .git"}))
        await _answered(feed, "once")
        assert not (await call).is_error
        assert not (tmp_path / ".git").exists()
    async with Tool("workspace", cwd=tmp_path, by="person") as tool:
        assert "denied by nacre's guard" in (await tool.call({"command": "rm -rf /"})).text
    entries = [json.loads(line) for line in (home / "log.jsonl").read_text().splitlines()]
    assert [entry["by"] for entry in entries] == ["person", "person"]


async def test_a_call_that_is_being_written_is_shown_and_keeps_its_id(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "hunter2-hunter2-hunter2")
    whole = json.dumps({"command": "echo hi hunter2-hunter2-hunter2", "env": {"A": "1"}})
    async with Tool("workspace") as tool:
        assert tool.preview(whole) is None
        async with following(home) as feed:
            ids = {tool.preview(whole[:end]) for end in range(len(whole) + 1)}
            await tool.call(json.loads(whole))
            events = await until_ends(feed)
    assert {event["call"] for event in events} == ids
    assert "hunter" not in json.dumps(events)
    previews = [event["command"] for event in events if event["event"] == "preview"]
    assert {"", "e", "echo hi "} < set(previews)
    assert _last(events, lambda event: event["event"] == "preview")["env"] == {"A": "1"}


def _last(events: list[Event], wanted: Callable[[Event], bool]) -> Event:
    return [event for event in events if wanted(event)][-1]
